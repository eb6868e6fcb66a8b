import { createHash } from 'node:crypto'
import type { App } from '../../src/app.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import { openBrowser } from '../../src/login/open-browser.ts'
import type { OAuthEngine } from '../auth-out/index.ts'
import type { LoginSubject, RegistryTokens } from '../registry/index.ts'
import type { Secrets } from '../secrets/index.ts'
import { failures } from './failures.ts'
import { findProvider } from './find-provider.ts'
import { type ProviderClient, refresh, revoke } from './provider-client.ts'
import { signIn } from './sign-in.ts'
import { createTokenStore, type Renewal } from './token-store.ts'
import type { Tokens } from './tokens.ts'

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
  engine: () => Promise<OAuthEngine>
  log: Log
  env: App['env']
  lockPath: string
  clock?: () => number
  times?: Times
}): RegistryTokens {
  const { secrets, engine, log, env, lockPath, clock = Date.now, times = TIMES } = options
  const tokenStore = createTokenStore({ secrets: secrets.scope('registry'), lockPath, clock })

  const nameOf = (url: string, issuer: string): string =>
    `REGISTRY_OAUTH_${createHash('sha256').update(`${url}\0${issuer}`).digest('hex').slice(0, 8)}`

  const clientOf = ({ auth }: LoginSubject): ProviderClient => ({
    issuer: auth.oauth.issuer,
    clientId: auth.oauth.client_id,
    timeoutMs: times.answerMs,
  })

  async function renew(subject: LoginSubject, tokens: Tokens): Promise<Renewal> {
    const { refresh_token: token } = tokens
    if (token === undefined) return { over: 'it has run out, and there is no refresh token to renew it' }
    return refresh(await engine(), clientOf(subject), { ...tokens, refresh_token: token })
  }

  const takeBack = async (subject: LoginSubject, tokens: Tokens): Promise<void> =>
    revoke(await engine(), clientOf(subject), tokens)

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
      const oauth = await engine()
      const timeoutMs = times.answerMs
      const { issuer, scopes: asked } = auth
      const place = { url, issuer, scopes: asked, allowPrivate, timeoutMs, signal }
      const discovery = await findProvider(oauth, place)
      const { tokens, clientId } = await signIn(oauth, discovery, {
        clientId: auth.client_id,
        audience: auth.audience,
        port: auth.callback_port ?? DEFAULT_PORT,
        waitMs: times.loginMs,
        timeoutMs,
        open: async address => browser && (await openBrowser(address, env)),
        show,
        signal,
      })
      await check(tokens.access_token)
      await tokenStore.save(nameOf(url, discovery.issuer), tokens)
      return { ...auth, issuer: discovery.issuer, client_id: clientId, scopes: [...discovery.scopes] }
    },

    async logout(subject) {
      const tokens = await tokenStore
        .find(nameOf(subject.url, subject.auth.oauth.issuer))
        .catch(unlessNotSetUp)
      if (tokens) {
        await takeBack(subject, tokens).catch(error =>
          log.warn(`The tokens are forgotten here, but may still be good elsewhere: ${messageOf(error)}`),
        )
      }
      await tokenStore.clear().catch(unlessNotSetUp)
    },

    forget: () => tokenStore.clear().catch(unlessNotSetUp),
  }
}
