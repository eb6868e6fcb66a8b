import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

interface TokenReply {
  readonly status: number
  readonly type?: string
  readonly location?: string
  readonly body: string
}

export interface PlainProvider {
  readonly origin: string
  /** Requests so far: method, path, headers and body. */
  readonly asked: readonly {
    method: string
    path: string
    headers: IncomingMessage['headers']
    body: string
  }[]
  /** What the token endpoint responds with from now on; undefined: tokens. */
  respond(reply: TokenReply | undefined): void
  /** What a person's browser does with the URL of the login: returns the URL that it is sent back to. */
  visit(url: string): Promise<string>
}

/**
 * A provider of OAuth 2 without OpenID Connect on loopback, in GitHub's shape: errors have the status 200, tokens are a
 * form unless JSON is accepted, and user information needs the header User-Agent. Refresh tokens change at each use,
 * and a refresh token that is used twice ends the login. It registers clients (RFC 7591).
 */
export async function plainProvider({
  tokens = (token: object): object => token,
}: {
  /** Changes the shape of token responses. */
  readonly tokens?: (token: object) => object
} = {}): Promise<PlainProvider> {
  const asked: { method: string; path: string; headers: IncomingMessage['headers']; body: string }[] = []
  const codes = new Map<string, URLSearchParams>()
  const refreshTokens = new Map<string, boolean>()
  const clients = new Map([['app', 'app-secret']])
  let reply: TokenReply | undefined
  let isEnded = false

  function token(form: URLSearchParams, authorization: string | undefined): object {
    const [id = '', secret = ''] = authorization
      ? Buffer.from(authorization.slice('Basic '.length), 'base64').toString().split(':')
      : [form.get('client_id') ?? '', form.get('client_secret') ?? '']
    if (!clients.has(id) || clients.get(id) !== decodeURIComponent(secret)) return { error: 'invalid_client' }
    if (form.get('grant_type') === 'refresh_token') {
      const used = refreshTokens.get(form.get('refresh_token') ?? '')
      if (used !== false || isEnded) {
        isEnded ||= used === true
        return { error: 'bad_refresh_token', error_description: 'The refresh token is not valid.' }
      }
      refreshTokens.set(form.get('refresh_token') ?? '', true)
    } else {
      const begun = codes.get(form.get('code') ?? '')
      codes.delete(form.get('code') ?? '')
      const hash = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      const isRight =
        begun?.get('code_challenge') === hash && begun.get('redirect_uri') === form.get('redirect_uri')
      if (!isRight) return { error: 'bad_verification_code' }
    }
    const refresh = `refresh-${randomBytes(8).toString('hex')}`
    refreshTokens.set(refresh, false)
    const access = `gho_${randomBytes(8).toString('hex')}`
    return tokens({
      ...{ access_token: access, token_type: 'bearer', scope: 'repo,user' },
      ...{ expires_in: 3600, refresh_token: refresh },
    })
  }

  async function visit(url: string): Promise<string> {
    const words = new URL(url).searchParams
    const code = randomBytes(8).toString('hex')
    codes.set(code, words)
    const back = new URL(words.get('redirect_uri') ?? '')
    back.searchParams.set('code', code)
    back.searchParams.set('state', words.get('state') ?? '')
    return back.href
  }

  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { method = '', url: path = '', headers } = request
    asked.push({ method, path, headers, body })
    const send = (status: number, value: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (path === '/token' && reply) {
      return response
        .writeHead(reply.status, {
          'content-type': reply.type ?? 'application/json',
          ...(reply.location === undefined ? {} : { location: reply.location }),
        })
        .end(reply.body)
    }
    if (path === '/token') return send(200, token(new URLSearchParams(body), headers.authorization))
    if (path.startsWith('/authorize?')) {
      return response.writeHead(302, { location: await visit(`${origin}${path}`) }).end()
    }
    if (path === '/user') {
      const isKnown = headers.authorization?.startsWith('Bearer gho_') && headers['user-agent']
      return isKnown
        ? send(200, {
            id: 583_231,
            login: 'ada',
            name: 'Ada Lovelace',
            email: null,
            plan: { mail: 'ada@example.org' },
          })
        : send(401, { message: 'Requires authentication' })
    }
    if (path === '/metadata') return send(200, { registration_endpoint: `${origin}/register` })
    if (path === '/register') {
      if (headers.authorization !== 'Bearer first-token') return send(401, { error: 'invalid_token' })
      const id = `client-${clients.size}`
      clients.set(id, `secret of ${id}`)
      return send(201, { client_id: id, client_secret: `secret of ${id}`, client_secret_expires_at: 0 })
    }
    return response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    asked,
    respond(next) {
      reply = next
    },
    visit,
  }
}
