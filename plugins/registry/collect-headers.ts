import type { App } from '../../src/app.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { ResolveContext } from '../../src/contracts/target.ts'
import { askVariables, type Needed } from './ask-variables.ts'
import type { Header } from './formats/legacy.ts'
import { variablesMissing } from './missing-variables.ts'
import { type Origin, secretsOf } from './server-secrets.ts'

type HeaderForward = NonNullable<RunConfig['header_forward']>

/**
 * The headers that an entry wants and the user has not given: defaults, secrets that the user has agreed to give
 * to this server, and what a person answers. As with variables, a secret is stored and only its name returned.
 * Fails with `variables_missing`.
 */
export async function collectHeaders(
  app: App,
  origin: Origin,
  headers: readonly Header[],
  { asked, ask, report }: ResolveContext,
): Promise<HeaderForward | undefined> {
  const { add_plaintext_headers = {}, add_headers_from_secret = {} } = asked.header_forward ?? {}
  const given = new Set(
    Object.keys({ ...add_plaintext_headers, ...add_headers_from_secret }).map(name => name.toLowerCase()),
  )
  const { bearer_token, bearer_token_file } = asked.remote_auth_config ?? {}
  if (bearer_token || bearer_token_file) given.add('authorization')
  const open = headers.filter(({ name }) => !given.has(name.toLowerCase()))
  const plain = new Map(
    open.flatMap(({ name, secret, default: fallback }) =>
      fallback === undefined || secret ? [] : [[name, fallback] as const],
    ),
  )
  const store = await secretsOf(app, origin)
  const secrets = new Map<string, string>()
  const needed: Needed[] = []
  for (const header of open.filter(({ name, required }) => required && !plain.has(name))) {
    const found = header.secret ? await store?.find(header.name) : undefined
    if (found?.agreed) secrets.set(header.name, found.name)
    else needed.push({ ...header, stored: found?.name })
  }
  const answers = await askVariables(needed, { origin, store, ask })
  const missing = needed.filter(({ name }) => !answers.values.has(name) && !answers.secrets.has(name))
  if (missing.length) throw variablesMissing(origin, missing, { areHeaders: true })
  for (const [name, value] of answers.values) plain.set(name, value)
  for (const [name, secret] of answers.secrets) secrets.set(name, secret)
  for (const [name, secret] of secrets) report?.(`The header ${name} is given the secret "${secret}"`)
  if (plain.size === 0 && secrets.size === 0) return undefined
  return {
    ...(plain.size ? { add_plaintext_headers: Object.fromEntries(plain) } : {}),
    ...(secrets.size ? { add_headers_from_secret: Object.fromEntries(secrets) } : {}),
  }
}
