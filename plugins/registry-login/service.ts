import { createHash } from 'node:crypto'
import type { App } from '../../src/app.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import { openBrowser } from '../../src/login/open-browser.ts'
import type { LoginSubject, RegistryTokens } from '../registry/index.ts'
import type { Secrets } from '../secrets/index.ts'
import { failures } from './failures.ts'
import type { Reach } from './oauth/oauth-fetch.ts'
import type { Tokens } from './oauth/oauth-tokens.ts'
import { findProtectedResource } from './oauth/protected-resource.ts'
import { refresh, revoke } from './oauth/refresh.ts'
import { signIn } from './oauth/sign-in.ts'
import { createTokenStore, type Renewal } from './token-store.ts'

const DEFAULT_SCOPES = ['openid', 'offline_access']
/** Registered with many a provider as `http://localhost:8666/callback`. */
const DEFAULT_PORT = 8666

interface Times {
  /** Time limit of one response of an identity provider, in milliseconds. */
  readonly answerMs: number
  /** The person in front of the browser. */
  readonly loginMs: number
}

const TIMES: Times = { answerMs: 10_000, loginMs: 5 * 60_000 }

/** Logs in to registries. Tokens are kept among keelson's own secrets, as one value for each registry. */
export function createRegistryTokens(options: {
  secrets: Secrets
  log: Log
  env: App['env']
  lockPath: string
  clock?: () => number
  times?: Times
}): RegistryTokens {
  const { secrets, log, env, lockPath, clock = Date.now, times = TIMES } = options
  const tokenStore = createTokenStore({ secrets: secrets.scope('registry'), lockPath, clock })

  const nameOf = (url: string, issuer: string): string =>
    `REGISTRY_OAUTH_${createHash('sha256').update(`${url}\0${issuer}`).digest('hex').slice(0, 8)}`

  /** Whoever set an issuer by name may set one in a private network. */
  const reachOf = (allowPrivate: boolean, signal?: AbortSignal): Reach => ({
    allowPrivate,
    timeoutMs: times.answerMs,
    signal,
  })

  const clientOf = ({ auth }: LoginSubject) => ({
    issuer: auth.oauth.issuer,
    clientId: auth.oauth.client_id,
    reach: reachOf(true),
  })

  async function renew(subject: LoginSubject, tokens: Tokens): Promise<Renewal> {
    const { refresh_token: token } = tokens
    if (token === undefined) return { over: 'it has run out, and there is no refresh token to renew it' }
    return refresh(clientOf(subject), { ...tokens, refresh_token: token }, clock)
  }

  /** Without a place for secrets there is no login. */
  const unlessNotSetUp = (error: unknown): undefined => {
    if (isFailure(error, 'secrets_not_set_up')) return undefined
    throw error
  }

  return {
    async find(subject, rejected) {
      const { url, auth } = subject
      const name = nameOf(url, auth.oauth.issuer)
      const found = await tokenStore
        .access(name, { rejected, renew: tokens => renew(subject, tokens) })
        .catch(unlessNotSetUp)
      if (typeof found === 'object') throw failures.login_over({ place: url, problem: found.over })
      return found
    },

    async has({ url, auth }) {
      const tokens = await tokenStore.find(nameOf(url, auth.oauth.issuer)).catch(unlessNotSetUp)
      return tokens !== undefined
    },

    async login({ url, allowPrivate, auth }, { browser, show, check, signal }) {
      // First what needs no user: a login that cannot be stored would be in vain.
      await secrets.assertCanStore('registry login')
      await tokenStore.find('registry login')
      const found =
        auth.issuer === undefined
          ? await findProtectedResource(
              `${url.replace(/\/+$/, '')}/v0.1/servers`,
              reachOf(allowPrivate, signal),
            )
          : undefined
      const issuer = auth.issuer ?? found?.issuers[0]
      if (issuer === undefined) throw failures.login_issuer_needed({ place: url })
      const scopes = auth.scopes ?? [...new Set([...DEFAULT_SCOPES, ...(found?.scopes ?? [])])]
      const { tokens, clientId } = await signIn({
        issuer,
        clientId: auth.client_id,
        scopes,
        audience: auth.audience,
        resource: found?.resource,
        port: auth.callback_port ?? DEFAULT_PORT,
        waitMs: times.loginMs,
        show: async address => show(address, browser && (await openBrowser(address, env))),
        reach: reachOf(auth.issuer !== undefined || allowPrivate, signal),
        clock,
      })
      await check(tokens.access_token)
      await tokenStore.save(nameOf(url, issuer), tokens)
      return { ...auth, issuer, client_id: clientId, scopes }
    },

    async logout(subject) {
      const tokens = await tokenStore
        .find(nameOf(subject.url, subject.auth.oauth.issuer))
        .catch(unlessNotSetUp)
      if (tokens) {
        await revoke(clientOf(subject), tokens).catch(error =>
          log.warn(`The tokens are forgotten here, but may still be good elsewhere: ${messageOf(error)}`),
        )
      }
      await tokenStore.clear().catch(unlessNotSetUp)
    },

    forget: () => tokenStore.clear().catch(unlessNotSetUp),
  }
}
