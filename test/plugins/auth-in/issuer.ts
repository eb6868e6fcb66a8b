import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** An issuer of which every part can be made to misbehave. */
export interface Issuer {
  readonly url: string
  /** What it publishes at `/jwks`. */
  keys: JWK[]
  /** Paths that were asked for, in order. */
  readonly asked: string[]
  /** Answers in the place of what it does by itself, by path. */
  readonly instead: Map<string, Answer>
  /** Makes a key, signs with it from now on, and publishes it beside the others unless told not to. */
  addKey(options?: { kid?: string; alg?: string; publish?: boolean }): Promise<void>
  /** A token signed with the last key; claims that are undefined are left out. */
  sign(claims?: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>
  /** The last key, for signatures that `sign` would not make. */
  privateKey(): CryptoKey
}

export const AUDIENCE = 'https://api.test'

export async function startIssuer(now: () => number = Date.now): Promise<Issuer> {
  let current: { kid: string; alg: string; key: CryptoKey } | undefined
  const issuer = { keys: [] as JWK[], asked: [] as string[], instead: new Map<string, Answer>() }
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    issuer.asked.push(path)
    let body = ''
    request.on('data', chunk => {
      body += chunk
    })
    request.on('end', () => {
      const instead = issuer.instead.get(path)
      if (instead) return instead(request, response, body)
      if (path === '/jwks') return json({ keys: issuer.keys })(request, response, body)
      if (path === '/.well-known/openid-configuration') {
        return json({ issuer: url, jwks_uri: `${url}/jwks` })(request, response, body)
      }
      response.writeHead(404).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const made: Issuer = Object.assign(issuer, {
    url,
    async addKey({ kid = `key-${issuer.keys.length + 1}`, alg = 'ES256', publish = true } = {}) {
      const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
      current = { kid, alg, key: privateKey }
      if (publish) issuer.keys.push({ ...(await exportJWK(publicKey)), kid, alg, use: 'sig' })
    },
    privateKey() {
      if (!current) throw new Error('the issuer has no key yet')
      return current.key
    },
    async sign(claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}) {
      if (!current) throw new Error('the issuer has no key yet')
      const seconds = Math.floor(now() / 1000)
      const all = { iss: url, aud: AUDIENCE, sub: 'ada', exp: seconds + 300, iat: seconds, ...claims }
      const said = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
      const { kid, alg, key } = current
      return new SignJWT(said).setProtectedHeader({ alg, kid, ...header }).sign(key)
    },
  })
  await made.addKey()
  return made
}

/** Answers a document. */
export const json =
  (value: unknown, status = 200): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }

/** Takes the request, and never answers. */
export const stall: Answer = () => undefined
