import type { App } from '../../src/app.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { ResolveContext } from '../../src/contracts/target.ts'
import { readEnvFolder } from '../../src/env-files.ts'
import { askVariables, type Needed } from './ask-variables.ts'
import { failures } from './failures.ts'
import { foreignText } from './foreign-text.ts'
import type { EnvVar } from './formats/server-facts.ts'
import { variablesMissing } from './missing-variables.ts'
import { type Origin, secretsOf } from './server-secrets.ts'

export interface Collected {
  /** Values that may stand in a run config. */
  readonly env_vars: Record<string, string>
  /** References to secrets, `NAME,target=VARIABLE`. */
  readonly secrets: string[]
}

/** What a reference to a secret takes as its target. */
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,199}$/

/**
 * What a server needs and the user has not given: defaults, secrets that the user has agreed to give to
 * this server, and what a person answers. A stored secret is given after a yes alone. A secret that is
 * typed is stored for this server, and the run config only refers to it. Without a terminal, or without a
 * place for secrets, `variables_missing` names all that is missing at once.
 */
export async function collectVariables(
  app: App,
  origin: Origin,
  variables: readonly EnvVar[],
  { asked, ask, report, ownSource }: ResolveContext,
): Promise<Collected> {
  const wrong = variables.find(({ name }) => !NAME.test(name))
  if (wrong) {
    throw failures.variable_name_wrong({ server: origin.server, variable: foreignText(wrong.name, 40) })
  }
  const given = await givenNames(app, asked)
  const open = variables.filter(({ name }) => !given.has(name))
  const defaults = new Map(
    open.flatMap(({ name, secret, default: fallback }) =>
      fallback === undefined || secret ? [] : [[name, fallback] as const],
    ),
  )
  const store = await secretsOf(app, origin)
  const agreed = new Map<string, string>()
  const needed: Needed[] = []
  for (const variable of open.filter(({ name, required }) => required && !defaults.has(name))) {
    const found = variable.secret ? await store?.find(variable.name) : undefined
    // The user has agreed to give it to what the entry runs, and to nothing else.
    if (found?.agreed && ownSource === undefined) agreed.set(variable.name, found.name)
    else needed.push({ ...variable, stored: found?.name })
  }
  const answers = await askVariables(needed, { origin, store, ask })
  const missing = needed.filter(({ name }) => !answers.values.has(name) && !answers.secrets.has(name))
  if (missing.length) throw variablesMissing(origin, missing)

  const secrets = [...agreed, ...answers.secrets]
  for (const [target, name] of secrets) report?.(`${target} is given the secret "${name}"`)
  return {
    env_vars: Object.fromEntries([...defaults, ...answers.values]),
    secrets: secrets.map(([target, name]) => `${name},target=${target}`),
  }
}

/** Names of variables that flags, files or secrets give a value. */
async function givenNames(app: App, asked: RunConfig): Promise<ReadonlySet<string>> {
  const fromFolder = asked.env_file_dir ? await readEnvFolder(asked.env_file_dir, app.log) : {}
  const fromSecrets = (asked.secrets ?? []).flatMap(text => /,target=(.+)$/s.exec(text)?.[1] ?? [])
  return new Set([...Object.keys(asked.env_vars ?? {}), ...Object.keys(fromFolder), ...fromSecrets])
}
