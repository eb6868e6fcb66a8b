import { failures as core } from '../../src/errors.ts'
import type { RegistryAuth, Settings } from '../settings/index.ts'
import { failures } from './failures.ts'
import type { LoginPerson, RegistryTokens } from './registry-tokens.ts'
import { type Access, fetchPage, type Timeouts } from './sources/fetch-page.ts'
import type { SourceKind } from './sources/registry-source.ts'

/** A login that a person is to make. What `auth` leaves out comes from the settings, or from the registry. */
export interface LoginRequest {
  /** Another registry than the one that is set: the URL of an API. */
  readonly source?: string | undefined
  readonly allowPrivate?: boolean | undefined
  readonly auth: Partial<RegistryAuth['oauth']>
  readonly person: Omit<LoginPerson, 'check'>
}

/**
 * Logs in to the API that is set, or to another one, which then takes its place. Nothing is stored
 * before the registry has taken the token.
 */
export async function loginToRegistry(
  { source, allowPrivate: allowed, auth, person }: LoginRequest,
  host: {
    settings: Settings
    current: { kind: SourceKind; place: string }
    tokens: RegistryTokens
    timeouts: Timeouts
    store: (place: string, allowPrivate: boolean, auth: RegistryAuth['oauth']) => Promise<void>
  },
): Promise<{ place: string }> {
  const { settings, current, tokens, timeouts, store } = host
  const isSame = source === undefined || (current.kind === 'api' && source === current.place)
  if (isSame && current.kind !== 'api') throw failures.login_needs_api({ place: current.place })
  const url = source ?? current.place
  const allowPrivate = allowed ?? (isSame && (await settings.get('allow_private_registry_ip')) === true)
  assertApiUrl(url, allowPrivate)
  const stored = isSame ? (await settings.get('registry_auth'))?.oauth : undefined
  // A client is known to one provider only.
  const before = auth.issuer === undefined || auth.issuer === stored?.issuer ? stored : undefined
  const check = async (token: string): Promise<void> => {
    const access: Access = { allowPrivate, timeouts, token: async () => token, hasLogin: true }
    const probe = `${url.replace(/\/+$/, '')}/v0.1/servers?limit=1&version=latest`
    const page = await fetchPage(probe, access, { timeoutMs: timeouts.answerMs, signal: person.signal })
    if (!page) throw failures.source_invalid({ source: url, problem: 'it has no /v0.1/servers' })
  }
  const wish = { url, allowPrivate, auth: { ...before, ...auth } }
  await store(url, allowPrivate, await tokens.login(wish, { ...person, check }))
  return { place: url }
}

function assertApiUrl(source: string, allowPrivate: boolean): void {
  const url = URL.parse(source)
  const problem =
    !url?.hostname || !/^https?:$/.test(url.protocol)
      ? 'it is not a URL of an API'
      : url.username || url.password
        ? 'it holds a user name or password'
        : url.pathname.endsWith('.json')
          ? 'it is a file, which has no login'
          : url.protocol === 'http:' && !allowPrivate
            ? 'plain http is only for private networks (--allow-private-ip)'
            : undefined
  if (!problem) return
  // What stands before an `@` may be a password.
  const shown = source.replace(/\/\/.*@/, '//…@')
  throw core.usage({
    text: `A login to "${shown}" is impossible: ${problem}.`,
    hint: 'Give the https URL of a registry API.',
  })
}
