import { createHash, randomBytes } from 'node:crypto'
import { clean } from '../../../src/lib/printable.ts'
import { failures } from './failures.ts'
import { fetchIdentity, identityOfResponse } from './identity.ts'
import { fetchObject, type ProviderFetch } from './provider-fetch.ts'
import { readTokens } from './token-response.ts'
import type { Upstream, UpstreamTokens } from './upstream.ts'
import type { OAuth2Config } from './upstream-config.ts'

/** Our client at a provider. */
export interface UpstreamClient {
  readonly id: string
  readonly secret?: string | undefined
}

/**
 * A provider of OAuth 2 without OpenID Connect. Its endpoints are configured; who logged in is in its user
 * information or in its token response.
 */
export function createOAuth2Upstream(
  config: OAuth2Config,
  parts: {
    readonly name: string
    readonly fetch: ProviderFetch
    readonly findClient: (signal: AbortSignal) => Promise<UpstreamClient>
    readonly now: () => number
  },
): Upstream {
  const { name, fetch, findClient, now } = parts
  const { token_endpoint: tokenEndpoint = '', token_response_mapping: mapping = {} } = config
  const failed = (problem: string) => failures.upstream_login_failed({ name, problem })
  let isSecretInBody = false

  /** RFC 6749, section 2.3.1: most providers know Basic, some know only parameters. */
  async function requestTokens(
    client: UpstreamClient,
    words: Readonly<Record<string, string>>,
    { before, signal }: { readonly before?: UpstreamTokens; readonly signal: AbortSignal },
  ) {
    const send = (inBody: boolean) => {
      const secret = client.secret === undefined || !inBody ? {} : { client_secret: client.secret }
      const isBasic = client.secret !== undefined && !inBody
      const body = new URLSearchParams({ ...words, ...(isBasic ? {} : { client_id: client.id, ...secret }) })
      const type = { 'content-type': 'application/x-www-form-urlencoded' }
      const headers = isBasic ? { ...type, authorization: toBasic(client) } : type
      return fetchObject(fetch, tokenEndpoint, { name, method: 'POST', headers, body: `${body}`, signal })
    }
    let reply = await send(isSecretInBody)
    const isUnknown = reply.status === 401 || reply.value.error === 'invalid_client'
    if (isUnknown && client.secret !== undefined) {
      const again = await send(!isSecretInBody)
      if (again.status === 200 && again.value.error === undefined) isSecretInBody = !isSecretInBody
      reply = again
    }
    const { status, value } = reply
    const tokens =
      status < 300 && value.error === undefined && value.ok !== false
        ? readTokens(value, { mapping, before, now: now() })
        : undefined
    if (tokens) return { tokens, value }
    throw failed(toProblem(value, status))
  }

  return {
    name,
    id: `${name} ${tokenEndpoint}`,
    async authorizationUrl({ redirectUri, state, signal }) {
      const { id } = await findClient(signal)
      const verifier = randomBytes(32).toString('base64url')
      const url = new URL(config.authorization_endpoint ?? '')
      const scope = (config.scopes ?? []).join(' ')
      const words = {
        ...config.additional_authorization_params,
        ...(scope ? { scope } : {}),
        response_type: 'code',
        client_id: id,
        redirect_uri: config.redirect_uri || redirectUri,
        state,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      }
      for (const [word, value] of Object.entries(words)) url.searchParams.set(word, value)
      return { url: url.href, checks: { verifier } }
    },
    async finish({ callback, redirectUri, checks, signal }) {
      const { searchParams: words } = callback
      if (words.has('error')) throw failed(toProblem(Object.fromEntries(words), 0))
      const [code, ...others] = words.getAll('code')
      if (!code || others.length) throw failed('it sent no code')
      const uri = config.redirect_uri || redirectUri
      const client = await findClient(signal)
      const { tokens, value } = await requestTokens(
        client,
        {
          grant_type: 'authorization_code',
          code,
          redirect_uri: uri,
          ...(checks.verifier === undefined ? {} : { code_verifier: checks.verifier }),
        },
        { signal },
      )
      const { identity_from_token: paths, userinfo } = config
      const identity = paths?.subject_path
        ? identityOfResponse(value, paths, name)
        : await fetchIdentity(fetch, userinfo ?? {}, {
            provider: name,
            accessToken: tokens.accessToken,
            signal,
          })
      return { ...identity, tokens }
    },
    async refresh(before, { signal }) {
      if (before.refreshToken === undefined) throw failed('there is no refresh token')
      const words = { grant_type: 'refresh_token', refresh_token: before.refreshToken }
      const client = await findClient(signal)
      return (await requestTokens(client, words, { before, signal })).tokens
    },
  }
}

/** Both parts are encoded as in forms first. */
function toBasic({ id, secret = '' }: UpstreamClient): string {
  const pair = [id, secret].map(part => new URLSearchParams({ '': part }).toString().slice(1)).join(':')
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

/** What an error response says (RFC 6749, sections 4.1.2.1 and 5.2). */
function toProblem(value: Readonly<Record<string, unknown>>, status: number): string {
  const { error, error_description: description } = value
  const said = [description, error].filter(text => typeof text === 'string' && text !== '')
  const [text = `it responds with ${status} and no token`, code] = said as string[]
  return clean(code === undefined ? text : `${text.replace(/\.\s*$/, '')} (${code})`).slice(0, 300)
}
