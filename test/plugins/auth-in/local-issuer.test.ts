import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { createCallerAuths } from '../../../plugins/auth-in/caller-auths.ts'
import { describeLogin } from '../../../plugins/auth-in/describe-login.ts'
import { createCallerAuth } from '../../../plugins/auth-in/service.ts'
import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { createLog } from '../../../src/log.ts'
import { AUDIENCE, startIssuer } from './issuer.ts'

const log = createLog({ write: () => undefined, human: false, debug: false })
const ISSUER = 'http://127.0.0.1:4000'
const RESOURCE = 'http://127.0.0.1:4000/mcp'

/** An authorization server in this process. */
async function arrange() {
  const keys: JWK[] = []
  const revoked = new Set<unknown>()
  const addKey = async (kid: string) => {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    keys.push({ ...(await exportJWK(publicKey)), kid })
    return (claims: object = {}, header: object = {}) =>
      new SignJWT({ iss: ISSUER, aud: RESOURCE, sub: 'ada', scope: 'read', tsid: 'grant-1', ...claims })
        .setProtectedHeader({ alg: 'ES256', kid, typ: 'at+jwt', ...header })
        .setExpirationTime('1m')
        .sign(privateKey)
  }
  const local = {
    issuer: ISSUER,
    audience: RESOURCE,
    scopes: ['read'],
    keys: async () => ({ keys }),
    isActive: async ({ tsid }: Readonly<Record<string, unknown>>) => !revoked.has(tsid),
  }
  return { local, revoked, addKey, sign: await addKey('one') }
}

const codeOf = async (admission: Promise<{ refusal?: { body: string } } | object>): Promise<string> => {
  const outcome = await admission
  return 'refusal' in outcome && outcome.refusal ? JSON.parse(outcome.refusal.body).error : 'accepted'
}

test('tokens of the authorization server of the workload are accepted, also with new keys', async () => {
  const { local, addKey, sign } = await arrange()
  const auth = createCallerAuth(undefined, { log, local, resourceUrl: RESOURCE })

  expect(await auth.admit(`Bearer ${await sign()}`)).toMatchObject({
    caller: { subject: 'ada', issuer: ISSUER },
  })
  const signAnew = await addKey('two')
  expect(await codeOf(auth.admit(`Bearer ${await signAnew()}`))).toBe('accepted')
})

test('a token whose grant was revoked is refused at once', async () => {
  const { local, revoked, sign } = await arrange()
  const auth = createCallerAuth(undefined, { log, local, resourceUrl: RESOURCE })
  const token = `Bearer ${await sign()}`
  expect(await codeOf(auth.admit(token))).toBe('accepted')

  revoked.add('grant-1')

  expect(await codeOf(auth.admit(token))).toBe('invalid_token')
})

test.each<[string, object, object]>([
  ['for another workload', { aud: 'http://127.0.0.1:4001/mcp' }, {}],
  ['of another issuer', { iss: `${ISSUER}/` }, {}],
  ['that is not an access token', {}, { typ: 'JWT' }],
])('a token %s is refused', async (_, claims, header) => {
  const { local, sign } = await arrange()
  const auth = createCallerAuth(undefined, { log, local, resourceUrl: RESOURCE })

  expect(await codeOf(auth.admit(`Bearer ${await sign(claims, header)}`))).toBe('invalid_token')
})

test('beside it, tokens of the provider are accepted, each with the audience of its own issuer', async () => {
  const { local, sign } = await arrange()
  const issuer = await startIssuer()
  const config = {
    ...{ issuer: issuer.url, audience: AUDIENCE, allowHttp: true, allowPrivateIp: true },
  }
  const auth = createCallerAuth(config, { log, local, resourceUrl: RESOURCE })

  expect(await codeOf(auth.admit(`Bearer ${await sign()}`))).toBe('accepted')
  expect(await codeOf(auth.admit(`Bearer ${await issuer.sign()}`))).toBe('accepted')
  expect(await codeOf(auth.admit(`Bearer ${await sign({ aud: AUDIENCE })}`))).toBe('invalid_token')
  expect(await codeOf(auth.admit(`Bearer ${await issuer.sign({ aud: RESOURCE })}`))).toBe('invalid_token')
  expect(await codeOf(auth.admit(`Bearer ${await issuer.sign({ iss: ISSUER })}`))).toBe('invalid_token')
  expect(auth.metadata?.describe(undefined).authorization_servers).toEqual([ISSUER, issuer.url])
})

test('a run config with an authorization server needs no oidc_config for a login', async () => {
  const { local, sign } = await arrange()
  const find = async () => ({ issuerOf: async () => local })
  const auths = createCallerAuths({ find, paths: { cache: '/nowhere' }, log } as unknown as App)
  const config: RunConfig = {
    ...{ schema_version: 'v0.1.0', name: 'a', image: 'a', port: 4000 },
    transport: 'stdio',
  }

  expect(await auths.isRequired(config)).toBe(true)
  const auth = await auths.ofWorkload(config, { host: '127.0.0.1', port: 4000 }, log)

  expect(auth?.metadata?.describe(undefined)).toMatchObject({
    resource: RESOURCE,
    authorization_servers: [ISSUER],
  })
  expect(await codeOf(auth?.admit(`Bearer ${await sign()}`) ?? Promise.resolve({}))).toBe('accepted')
  expect(await codeOf(auth?.admit(undefined) ?? Promise.resolve({}))).toBe('invalid_request')
})

test('the status of a workload says whose tokens are accepted', () => {
  const own = { embedded_auth_server_config: { upstreams: [{ type: 'oidc' }] } }
  const oidc = { oidc_config: { issuer: 'https://id.example', audience: 'tools' } }
  const describe = (config: object) => describeLogin(config as RunConfig)
  expect(describe(own)).toBe('tokens of its own authorization server')
  expect(describe(oidc)).toBe('OIDC https://id.example, audience tools')
  expect(describe({ ...own, ...oidc })).toBe(
    'tokens of its own authorization server, or OIDC https://id.example, audience tools',
  )
})
