import { failures as core, messageOf } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import type { RegistryAuth, Settings, SettingsChange } from '../settings/index.ts'
import { assertIssuer } from './assert-issuer.ts'
import type { CurrentSource } from './current-source.ts'
import { type Detected, detectSource } from './detect-source.ts'
import type { RegistryPlace } from './entry-places.ts'
import { failures } from './failures.ts'
import { type LoginRequest, loginToRegistry } from './registry-login.ts'
import type { RegistryTokens } from './registry-tokens.ts'
import type { Timeouts } from './sources/fetch-page.ts'

export interface SourceChange {
  /** A URL or a path. */
  readonly source: string
  readonly allowPrivate: boolean
  readonly auth?: RegistryAuth['oauth'] | undefined
  readonly cwd: string
}

/** What sets which registry is used, and where to log in to it. */
export interface SourceSetting {
  /** Checks a registry and, if it can be used, puts it in the place of what was set, its login too. */
  setSource(change: SourceChange): Promise<Detected>
  /** Back to the built-in catalogue. */
  unsetSource(): Promise<void>
  /** Where to log in to the API that is set, from now on; undefined: nowhere. Forgets the login. */
  setAuth(auth: RegistryAuth['oauth'] | undefined): Promise<void>
  /**
   * Logs in to a registry API in a browser. The registry must take the token; only then is anything
   * stored: tokens among the secrets, the registry and where to log in in the settings.
   */
  login(request: LoginRequest): Promise<{ place: string }>
  /** Forgets the login, at the identity provider too, and what the registry has said. Fails with `login_not_set`. */
  logout(): Promise<{ place: string }>
}

const NOTHING_SET = {
  registry_api_url: undefined,
  registry_url: undefined,
  local_registry_path: undefined,
  allow_private_registry_ip: undefined,
  registry_auth: undefined,
} as const satisfies SettingsChange

export function createSourceSetting(options: {
  settings: Settings
  log: Log
  tokens: (() => Promise<RegistryTokens | undefined>) | undefined
  timeouts: Timeouts
  current: CurrentSource
  /** Where the registry is read from now. */
  place: () => Promise<RegistryPlace>
}): SourceSetting {
  const { settings, log, tokens, timeouts, current, place: placeNow } = options

  /** Changes what is set. The login to what was set before goes with it. */
  async function put(change: SettingsChange): Promise<void> {
    const before = await settings.get('registry_auth').catch(() => undefined)
    await settings.change(() => change)
    await current.forget()
    if (!before) return
    await (await tokens?.())?.forget().catch(error => {
      log.warn(`The login to the registry before is still among the secrets: ${messageOf(error)}`)
    })
  }

  return {
    async setSource({ source, allowPrivate, auth, cwd }) {
      if (auth) assertIssuer(auth.issuer, 'issuer')
      const access = { allowPrivate, timeouts }
      const detected = await detectSource(source, { access, cwd, auth: auth !== undefined })
      const { kind, place } = detected
      if (auth && kind !== 'api') {
        throw failures.source_invalid({ source, problem: 'only a registry with an API can ask for a login' })
      }
      await put({
        registry_api_url: kind === 'api' ? place : undefined,
        registry_url: kind === 'url' ? place : undefined,
        local_registry_path: kind === 'file' ? place : undefined,
        allow_private_registry_ip: allowPrivate || undefined,
        registry_auth: auth && { type: 'oauth', oauth: auth },
      })
      return detected
    },

    unsetSource: () => put(NOTHING_SET),

    async setAuth(oauth) {
      const { kind, place } = await current.get()
      if (oauth && kind !== 'api') throw failures.login_needs_api({ place })
      await put({ registry_auth: oauth && { type: 'oauth', oauth } })
    },

    async login(request) {
      const loginTokens = await tokens?.()
      if (!loginTokens) throw core.service_missing({ service: 'registryTokens' })
      return loginToRegistry(request, {
        settings,
        current: await placeNow(),
        tokens: loginTokens,
        timeouts,
        async store(place, allowPrivate, oauth) {
          await current.forget()
          await settings.change(() => ({
            ...NOTHING_SET,
            registry_api_url: place,
            allow_private_registry_ip: allowPrivate || undefined,
            registry_auth: { type: 'oauth', oauth },
          }))
        },
      })
    },

    async logout() {
      const { kind, place } = await current.get()
      const auth = kind === 'api' ? await settings.get('registry_auth') : undefined
      const logins = await tokens?.()
      if (!auth || !logins) throw failures.login_not_set()
      await logins.logout({ url: place, auth })
      await current.forget(place)
      return { place }
    },
  }
}
