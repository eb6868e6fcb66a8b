import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import {
  CompactEncrypt,
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  importJWK,
  type JWK,
  SignJWT,
} from 'jose'
import { expect, test } from 'vitest'
import { rpc } from '../proxy/test-proxy.ts'
import { AUDIENCE, type Issuer, startIssuer } from './issuer.ts'
import { loginProxy, refusalOf } from './login-proxy.ts'

const seconds = () => Math.floor(Date.now() / 1000)
const encode = (text: string | Buffer) => Buffer.from(text).toString('base64url')
const decode = (part = '') => Buffer.from(part, 'base64url').toString()

/** Signs texts as they are, which need not be JSON. */
async function signRaw(issuer: Issuer, header: string | Buffer, payload: string | Buffer): Promise<string> {
  const signed = `${encode(header)}.${encode(payload)}`
  const signature = await crypto.subtle.sign(
    { name: 'ECDSA', hash: 'SHA-256' },
    issuer.privateKey(),
    Buffer.from(signed),
  )
  return `${signed}.${encode(Buffer.from(signature))}`
}

const claimsOf = (issuer: Issuer, more: object = {}) =>
  JSON.stringify({ iss: issuer.url, aud: AUDIENCE, sub: 'root', exp: seconds() + 60, ...more })
const header = (more: object = {}) => JSON.stringify({ alg: 'ES256', kid: 'key-1', ...more })

/** HS256 with a key that everybody knows. */
function signWithPassword(issuer: Issuer, password: string, kid = 'key-1'): string {
  const signed = `${encode(header({ alg: 'HS256', kid }))}.${encode(claimsOf(issuer))}`
  return `${signed}.${createHmac('sha256', password).update(signed).digest('base64url')}`
}

const ownKey = async (alg = 'ES256'): Promise<{ key: CryptoKey; jwk: JWK }> => {
  const pair = await generateKeyPair(alg, { extractable: true })
  return { key: pair.privateKey, jwk: await exportJWK(pair.publicKey) }
}

/** A token that is signed with a key of the attacker. */
async function forge(issuer: Issuer, more: object, key?: CryptoKey): Promise<string> {
  const claims = JSON.parse(claimsOf(issuer)) as Record<string, unknown>
  const made = key ?? (await ownKey()).key
  return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'key-1', ...more }).sign(made)
}

type Make = (issuer: Issuer) => string | Promise<string>

/** Tokens that are refused, and a part of the reason. */
const TOKENS: readonly [string, Make, string][] = [
  // Algorithms (RFC 8725, sections 2.1 and 3.1)
  [
    'with the algorithm none',
    i => `${encode(header({ alg: 'none' }))}.${encode(claimsOf(i))}.`,
    'not signed',
  ],
  [
    'with none and a signature',
    i => `${encode(header({ alg: 'none' }))}.${encode(claimsOf(i))}.AAAA`,
    'algorithm',
  ],
  ['with None', i => `${encode(header({ alg: 'None' }))}.${encode(claimsOf(i))}.AAAA`, 'algorithm'],
  ['with nOnE', i => `${encode(header({ alg: 'nOnE' }))}.${encode(claimsOf(i))}.AAAA`, 'algorithm'],
  ['with an empty algorithm', i => signRaw(i, header({ alg: '' }), claimsOf(i)), ''],
  ['without an algorithm', i => signRaw(i, '{"kid":"key-1"}', claimsOf(i)), ''],
  ['with a number as its algorithm', i => signRaw(i, header({ alg: 256 }), claimsOf(i)), ''],
  ['with the algorithm in lower case', i => signRaw(i, header({ alg: 'es256' }), claimsOf(i)), 'algorithm'],
  ['that says RS256 of an EC key', i => signRaw(i, header({ alg: 'RS256' }), claimsOf(i)), 'key'],
  ['that says ES384 of a P-256 key', i => signRaw(i, header({ alg: 'ES384' }), claimsOf(i)), 'key'],
  ['that says ES256K', i => signRaw(i, header({ alg: 'ES256K' }), claimsOf(i)), 'algorithm'],
  [
    'signed with the public key as a password (PEM)',
    async i => signWithPassword(i, await pemOf(i)),
    'algorithm',
  ],
  [
    'signed with the public key as a password (JWK)',
    i => signWithPassword(i, JSON.stringify(i.keys[0])),
    'algorithm',
  ],
  ['signed with an empty password', i => signWithPassword(i, ' '), 'algorithm'],
  ['signed with a password that the key set publishes', publishedPassword, 'algorithm'],
  ['signed with a weak RSA key', weakRsa, ''],
  // Signatures and keys
  ['without its signature', async i => (await i.sign()).split('.').slice(0, 2).join('.'), 'not a JWT'],
  ['with an empty signature', async i => (await i.sign()).replace(/[^.]+$/, ''), 'not signed'],
  [
    'with another signature',
    async i => (await i.sign()).replace(/[^.]+$/, encode(Buffer.alloc(64, 1))),
    'signature',
  ],
  [
    'with a signature of zeros',
    async i => (await i.sign()).replace(/[^.]+$/, encode(Buffer.alloc(64))),
    'signature',
  ],
  ['with a signature that is cut short', async i => (await i.sign()).slice(0, -10), 'signature'],
  ['with the signature of another token', otherSignature, 'signature'],
  ['whose subject was changed', async i => withClaims(await i.sign(), { sub: 'root' }), 'signature'],
  [
    'whose end was moved',
    async i => withClaims(await i.sign({ exp: seconds() - 999 }), { exp: 9e9 }),
    'signature',
  ],
  ['signed by a key of another issuer', async () => (await startIssuer()).sign(), 'signature'],
  ['that brings its key along (jwk)', async i => ownJwk(i), 'signature'],
  ['that says where its key is (jku)', async i => forge(i, { jku: `${i.url}/evil` }), 'signature'],
  ['that says where its certificate is (x5u)', async i => forge(i, { x5u: `${i.url}/evil` }), 'signature'],
  [
    'that brings a certificate along (x5c)',
    async i => forge(i, { x5c: [encode('certificate')] }),
    'signature',
  ],
  ['whose key is not known', async i => forge(i, { kid: 'invented' }), 'key'],
  ['whose key is a path', async i => forge(i, { kid: '../../../../dev/null' }), 'key'],
  ['whose key is a query', async i => forge(i, { kid: "x' UNION SELECT 'secret" }), 'key'],
  ['whose key is a URL', async i => forge(i, { kid: `${i.url}/evil` }), 'key'],
  ['whose key has a zero byte', async i => signRaw(i, header({ kid: 'key-1\0' }), claimsOf(i)), 'key'],
  ['whose key is a list', i => signRaw(i, header({ kid: ['key-1'] }), claimsOf(i)), 'kid'],
  ['whose key is a number', i => signRaw(i, header({ kid: 1 }), claimsOf(i)), 'kid'],
  ['whose key is __proto__', i => signRaw(i, header({ kid: '__proto__' }), claimsOf(i)), 'key'],
  ['that does not name one of several keys', async i => severalKeys(i), 'kid'],
  ['signed with a key for encryption', async i => encryptionKey(i), 'key'],
  // The form (RFC 7515, RFC 7519)
  [
    'with a critical extension',
    async i => signRaw(i, header({ crit: ['exp'], exp: 9e9 }), claimsOf(i)),
    'crit',
  ],
  [
    'with an empty list of critical extensions',
    async i => signRaw(i, header({ crit: [] }), claimsOf(i)),
    'crit',
  ],
  [
    'whose payload is not encoded (b64)',
    i => signRaw(i, header({ b64: false, crit: ['b64'] }), claimsOf(i)),
    'crit',
  ],
  ['that is encrypted', encrypted, 'encrypted'],
  [
    'that holds another token',
    async i => signRaw(i, header({ cty: 'JWT' }), await i.sign()),
    'cannot be read',
  ],
  [
    'whose header names the algorithm twice',
    i => signRaw(i, '{"alg":"none","alg":"ES256","kid":"key-1"}', claimsOf(i)),
    'cannot be read',
  ],
  [
    'that names its subject twice',
    i => signRaw(i, header(), claimsOf(i).replace('{', '{"sub":"ada",')),
    'cannot be read',
  ],
  [
    'that names its subject twice in disguise',
    i => signRaw(i, header(), claimsOf(i).replace('{', '{"s\\u0075b":"ada",')),
    'cannot be read',
  ],
  [
    'that is not UTF-8',
    i => signRaw(i, header(), Buffer.from(claimsOf(i).replace('root', 'ro\xff'), 'latin1')),
    'cannot be read',
  ],
  [
    'whose header is not UTF-8',
    i => signRaw(i, Buffer.from(header({ x: '\xff' }), 'latin1'), claimsOf(i)),
    'cannot be read',
  ],
  ['whose payload is a list', i => signRaw(i, header(), `[${claimsOf(i)}]`), 'cannot be read'],
  ['whose payload is null', i => signRaw(i, header(), 'null'), 'cannot be read'],
  ['whose payload is empty', i => signRaw(i, header(), ''), 'cannot be read'],
  ['whose payload is cut short', i => signRaw(i, header(), claimsOf(i).slice(0, -1)), 'cannot be read'],
  ['with a fourth part', async i => `${await i.sign()}.AAAA`, 'not a JWT'],
  // Types (RFC 8725, section 3.11; RFC 9068)
  ['that is a logout token', i => i.sign({}, { typ: 'logout+jwt' }), 'typ'],
  ['that is a security event', i => i.sign({}, { typ: 'secevent+jwt' }), 'typ'],
  ['that is a proof of possession', i => i.sign({}, { typ: 'dpop+jwt' }), 'typ'],
  ['whose type is a list', i => signRaw(i, header({ typ: ['at+jwt'] }), claimsOf(i)), 'typ'],
  ['that is an ID token of Keycloak', i => i.sign({ typ: 'ID' }), 'typ'],
  ['that is an ID token (OpenID Connect Core, 3.3.2.11)', i => i.sign({ at_hash: 'x' }), 'at_hash'],
  ['with the events of a logout token', i => i.sign({ events: { logout: {} } }), 'events'],
  ['that is a refresh token of Keycloak', i => i.sign({ typ: 'Refresh' }), 'typ'],
  // Issuers
  ['of another issuer', i => i.sign({ iss: 'https://evil.test' }), 'iss'],
  ['of the issuer with a slash', i => i.sign({ iss: `${i.url}/` }), 'iss'],
  ['of the issuer in capitals', i => i.sign({ iss: i.url.toUpperCase() }), 'iss'],
  ['of an issuer that begins alike', i => i.sign({ iss: `${i.url}.evil.test` }), 'iss'],
  ['of an issuer that looks alike', i => i.sign({ iss: i.url.replace('1', '１') }), 'iss'],
  ['of several issuers', i => i.sign({ iss: [i.url] }), 'iss'],
  ['without an issuer', i => i.sign({ iss: undefined }), 'iss'],
  // Audiences
  ['for another audience', i => i.sign({ aud: 'https://other.test' }), 'aud'],
  ['for an audience with a slash', i => i.sign({ aud: `${AUDIENCE}/` }), 'aud'],
  ['for an audience that begins alike', i => i.sign({ aud: `${AUDIENCE}.evil.test` }), 'aud'],
  ['for audiences in one text', i => i.sign({ aud: `${AUDIENCE} https://other.test` }), 'aud'],
  ['for a list in a list', i => i.sign({ aud: [[AUDIENCE]] }), 'aud'],
  ['for no audience', i => i.sign({ aud: undefined }), 'aud'],
  ['for an empty list of audiences', i => i.sign({ aud: [] }), 'aud'],
  ['whose audience is only authorized (azp)', i => i.sign({ aud: 'account', azp: AUDIENCE }), 'aud'],
  // Times
  ['that has expired', i => i.sign({ exp: seconds() - 31 }), 'expired'],
  ['that never ends', i => i.sign({ exp: undefined }), 'exp'],
  ['whose end is a text', i => i.sign({ exp: String(seconds() + 60) }), 'exp'],
  [
    'whose end is beyond all numbers',
    i => signRaw(i, header(), claimsOf(i).replace(/"exp":\d+/, '"exp":1e999')),
    'exp',
  ],
  ['whose end is negative', i => i.sign({ exp: -1 }), 'expired'],
  ['that begins later', i => i.sign({ nbf: seconds() + 40 }), 'nbf'],
  ['whose begin is a text', i => i.sign({ nbf: 'now' }), 'nbf'],
  // Subjects and actors
  ['without a subject', i => i.sign({ sub: undefined }), 'sub'],
  ['with an empty subject', i => i.sign({ sub: '' }), 'sub'],
  ['with a blank subject', i => i.sign({ sub: ' ' }), 'sub'],
  ['whose subject is an object', i => i.sign({ sub: { admin: true } }), 'sub'],
  ['whose actor has no name', i => i.sign({ act: {} }), 'act'],
  ['with eleven actors', i => i.sign({ act: chain(11) }), 'act'],
]

test.each(TOKENS)('a token %s is refused, and nothing reaches the server', async (_, make, reason) => {
  const issuer = await startIssuer()
  const { url, reached } = await loginProxy({ issuer: issuer.url })
  const authorization = `Bearer ${await make(issuer)}`

  const response = await fetch(url, {
    method: 'POST',
    body: rpc('tools/list', 1),
    headers: { authorization },
  })

  const { status, parameters, body } = await refusalOf(response)
  expect([status, parameters.error, body.error]).toEqual([401, 'invalid_token', 'invalid_token'])
  expect(body.error_description).toContain(reason)
  expect(parameters.resource_metadata).toBe('https://tools.test/.well-known/oauth-protected-resource/mcp')
  expect(reached).toEqual([])
  expect(issuer.asked).not.toContain('/evil')
})

/** Ways to bring a good token that are not the one of RFC 6750, section 2.1. */
const REQUESTS: readonly [
  string,
  (token: string) => { path?: string; headers?: Record<string, string | string[]> },
][] = [
  ['in no header', () => ({})],
  ['in the query', token => ({ path: `/mcp?access_token=${token}` })],
  ['in a cookie', token => ({ headers: { cookie: `access_token=${token}` } })],
  ['in X-Forwarded-Access-Token', token => ({ headers: { 'x-forwarded-access-token': token } })],
  ['in Proxy-Authorization', token => ({ headers: { 'proxy-authorization': `Bearer ${token}` } })],
  ['without a scheme', token => ({ headers: { authorization: token } })],
  ['with the scheme Basic', token => ({ headers: { authorization: `Basic ${token}` } })],
  ['with the scheme DPoP', token => ({ headers: { authorization: `DPoP ${token}` } })],
  ['in two headers', token => ({ headers: { authorization: [`Bearer ${token}`, 'Bearer x'] } })],
  [
    'in two headers that are alike',
    token => ({ headers: { authorization: [`Bearer ${token}`, `Bearer ${token}`] } }),
  ],
  ['with a second token', token => ({ headers: { authorization: `Bearer ${token}, Bearer ${token}` } })],
  ['in quotes', token => ({ headers: { authorization: `Bearer "${token}"` } })],
  ['with a space inside', token => ({ headers: { authorization: `Bearer ${token.replace('.', '. ')}` } })],
  ['with padding inside', token => ({ headers: { authorization: `Bearer ${token.replace('.', '=.')}` } })],
  ['behind a tab', token => ({ headers: { authorization: `Bearer\t${token}` } })],
  ['with a parameter', token => ({ headers: { authorization: `Bearer token=${token};` } })],
  ['with an empty token', () => ({ headers: { authorization: 'Bearer ' } })],
]

test.each(REQUESTS)('a good token %s does not count', async (_, make) => {
  const issuer = await startIssuer()
  const { url, reached } = await loginProxy({ issuer: issuer.url })
  const { path = '/mcp', headers = {} } = make(await issuer.sign())

  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sent = request(new URL(path, url), { method: 'POST', headers }, response => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject).end(rpc('tools/list', 1))
  })

  expect(status).toBe(401)
  expect(reached).toEqual([])
})

test('a header beyond all bounds is not read', async () => {
  const issuer = await startIssuer()
  const { url, reached } = await loginProxy({ issuer: issuer.url })

  const response = await fetch(url, { headers: { authorization: `Bearer ${'a'.repeat(20_000)}` } })

  expect((await refusalOf(response)).body.error_description).toContain('longer than 16384')
  expect(reached).toEqual([])
})

test('the scheme may be in any case, and the server does not get the token', async () => {
  const issuer = await startIssuer()
  const { url, reached, callers } = await loginProxy({ issuer: issuer.url })
  const headers = { authorization: `bearer ${await issuer.sign()}` }

  const { status } = await fetch(url, { method: 'POST', body: rpc('tools/list', 1), headers })

  expect(status).toBe(200)
  expect(reached).toEqual([{ url: '/mcp', authorization: undefined }])
  expect(callers).toEqual([expect.objectContaining({ subject: 'ada', issuer: issuer.url })])
})

const chain = (length: number): object => ({ sub: 'a', ...(length > 1 ? { act: chain(length - 1) } : {}) })

async function pemOf(issuer: Issuer): Promise<string> {
  return exportSPKI((await importJWK(issuer.keys[0] ?? {}, 'ES256')) as CryptoKey)
}

function publishedPassword(issuer: Issuer): string {
  issuer.keys.push({
    kty: 'oct',
    kid: 'shared',
    k: encode('a password of 32 bytes at least..'),
    alg: 'HS256',
  })
  return signWithPassword(issuer, 'a password of 32 bytes at least..', 'shared')
}

async function weakRsa(issuer: Issuer): Promise<string> {
  const algorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 1024,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  }
  const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  issuer.keys.push({ ...(await exportJWK(pair.publicKey)), kid: 'weak', alg: 'RS256' })
  const signed = `${encode(header({ alg: 'RS256', kid: 'weak' }))}.${encode(claimsOf(issuer))}`
  const signature = await crypto.subtle.sign(algorithm.name, pair.privateKey, Buffer.from(signed))
  return `${signed}.${encode(Buffer.from(signature))}`
}

async function otherSignature(issuer: Issuer): Promise<string> {
  const [one, other] = [await issuer.sign(), await issuer.sign({ sub: 'eve' })]
  return [...other.split('.').slice(0, 2), one.split('.')[2]].join('.')
}

function withClaims(token: string, more: object): string {
  const [head, payload, signature] = token.split('.')
  return `${head}.${encode(JSON.stringify({ ...JSON.parse(decode(payload)), ...more }))}.${signature}`
}

async function ownJwk(issuer: Issuer): Promise<string> {
  const { key, jwk } = await ownKey()
  return forge(issuer, { jwk }, key)
}

async function severalKeys(issuer: Issuer): Promise<string> {
  await issuer.addKey()
  return issuer.sign({}, { kid: undefined })
}

async function encryptionKey(issuer: Issuer): Promise<string> {
  const { key, jwk } = await ownKey()
  issuer.keys.push({ ...jwk, kid: 'enc', use: 'enc' })
  return forge(issuer, { kid: 'enc' }, key)
}

async function encrypted(issuer: Issuer): Promise<string> {
  const key = (await importJWK(issuer.keys[0] ?? {}, 'ECDH-ES')) as CryptoKey
  const protectedHeader = { alg: 'ECDH-ES', enc: 'A256GCM', kid: 'key-1' }
  return new CompactEncrypt(Buffer.from(claimsOf(issuer))).setProtectedHeader(protectedHeader).encrypt(key)
}
