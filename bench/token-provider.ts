import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/** An identity provider with keys, introspection and an exchange of tokens, and what it was asked. */
export async function tokenProvider() {
  const counts = { keys: 0, introspections: 0, exchanges: 0 }
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const keys = { keys: [{ ...(await exportJWK(publicKey)), alg: 'RS256', use: 'sig', kid: 'bench' }] }
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo
    const issuer = `http://127.0.0.1:${port}`
    const send = (value: object) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    request.resume().on('end', () => {
      switch (request.url) {
        case '/keys':
          counts.keys++
          return send(keys)
        case '/introspect': {
          counts.introspections++
          const claims = { iss: issuer, aud: 'bench', sub: 'ada', exp: Math.floor(Date.now() / 1000) + 3600 }
          return send({ active: true, ...claims })
        }
        case '/token':
          counts.exchanges++
          return send({
            access_token: 'an-exchanged-token',
            issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
            token_type: 'Bearer',
            expires_in: 3600,
          })
        default:
          return send({ issuer, jwks_uri: `${issuer}/keys` })
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    issuer,
    counts,
    token: () =>
      new SignJWT({ groups: ['dev', 'ops'], scope: 'read write' })
        .setProtectedHeader({ alg: 'RS256', kid: 'bench', typ: 'at+jwt' })
        .setIssuer(issuer)
        .setAudience('bench')
        .setSubject(`ada-${crypto.randomUUID()}`)
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(privateKey),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
