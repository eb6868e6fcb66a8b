import type { App } from '../../src/app.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { ResolveContext } from '../../src/contracts/target.ts'
import { isFailure } from '../../src/errors.ts'
import type { Secrets } from '../secrets/index.ts'
import { readEnvFolder } from '../workloads/index.ts'
import { failures } from './failures.ts'
import { shortNameOf } from './formats/names.ts'
import type { EnvVar } from './formats/server-json.ts'

export interface Collected {
  /** Values that may stand in a run config. */
  readonly env_vars: Record<string, string>
  /** References to secrets, `NAME,target=VARIABLE`. */
  readonly secrets: string[]
}

/**
 * What a server needs and the user has not given: defaults, stored secrets, and what a person types.
 * A secret never lands in the run config: it is stored first and referred to. Without a terminal, or
 * without a place for secrets, `variables_missing` names all that is missing at once.
 */
export async function collectVariables(
  app: App,
  server: string,
  variables: readonly EnvVar[],
  { asked, ask, report }: ResolveContext,
): Promise<Collected> {
  const given = await givenNames(app, asked)
  const open = variables.filter(({ name }) => !given.has(name))
  const env_vars = Object.fromEntries(
    open.flatMap(({ name, secret, default: fallback }) =>
      fallback === undefined || secret ? [] : [[name, fallback] as const],
    ),
  )
  const needed = open.filter(({ name, required }) => required && env_vars[name] === undefined)
  const secrets: string[] = []
  const missing: EnvVar[] = []
  for (const variable of needed) {
    const stored = variable.secret ? await findStored(app, server, variable.name) : undefined
    if (stored === undefined) missing.push(variable)
    else {
      report?.(`${variable.name} is taken from the secret "${stored}"`)
      secrets.push(`${stored},target=${variable.name}`)
    }
  }
  const place = missing.some(({ secret }) => secret) ? await writableSecrets(app, server) : undefined
  const canAsk = ask && !missing.some(({ secret }) => secret && !place)
  const unanswered: EnvVar[] = []
  for (const variable of missing) {
    const { name, description, secret } = variable
    const question = description ? `${description}\n${name}` : name
    const answer = canAsk ? (await ask(question, { hidden: secret === true }))?.trim() : undefined
    if (!answer) unanswered.push(variable)
    else if (!secret) env_vars[name] = answer
    else if (place) {
      const key = secretName(server, name)
      await place.set(key, answer)
      secrets.push(`${key},target=${name}`)
    }
  }
  if (unanswered.length) {
    const names = (secret: boolean) =>
      unanswered.filter(one => Boolean(one.secret) === secret).map(({ name }) => name)
    throw failures.variables_missing({ server, plain: names(false), secret: names(true) })
  }
  return { env_vars, secrets }
}

/** Names of variables that flags, files or secrets give a value. */
async function givenNames(app: App, asked: RunConfig): Promise<ReadonlySet<string>> {
  const fromFolder = asked.env_file_dir ? await readEnvFolder(asked.env_file_dir, app.log) : {}
  const fromSecrets = (asked.secrets ?? []).flatMap(text => /,target=(.+)$/s.exec(text)?.[1] ?? [])
  return new Set([...Object.keys(asked.env_vars ?? {}), ...Object.keys(fromFolder), ...fromSecrets])
}

/** Where an answer is kept: apart for each server, so that none is handed what another was given. */
const secretName = (server: string, variable: string): string =>
  `registry-user-${shortNameOf(server)}-${variable}`

const hasSecrets = (app: App): boolean => app.entries.some(entry => entry.services?.includes('secrets'))

/** The secret for a variable: what was typed for this server before, or one the user stored under its name. */
async function findStored(app: App, server: string, variable: string): Promise<string | undefined> {
  if (!hasSecrets(app)) return undefined
  const secrets = await app.service('secrets')
  try {
    for (const name of [secretName(server, variable), variable]) {
      if ((await secrets.find(name)) !== undefined) return name
    }
  } catch (error) {
    if (!isFailure(error, 'secrets_not_set_up')) throw error
  }
  return undefined
}

/** The place for secrets, if one has been chosen that can store. */
async function writableSecrets(app: App, server: string): Promise<Secrets | undefined> {
  if (!hasSecrets(app)) return undefined
  const secrets = await app.service('secrets')
  try {
    await secrets.assertCanStore(secretName(server, 'X'))
    return secrets
  } catch (error) {
    if (isFailure(error)) return undefined
    throw error
  }
}
