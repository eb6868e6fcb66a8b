import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose'
import { expect, test } from 'vitest'
import { type IdentityProvider, identityProvider } from '../../support/identity-provider.ts'
import { post, rpc, until } from '../proxy/test-proxy.ts'
import { startCommand } from '../proxy-command/running-command.ts'
import { filesWith, testHome } from './guarded-server.ts'
import { serveHome } from './http-world.ts'
import { protectedServer } from './oauth/protected-server.ts'

const GRANT = ['--remote-auth-grant-type', 'client_credentials']

/** A home, a provider that knows a client with two keys, and a server that demands the provider's tokens. */
async function machineWorld({ secrets = true }: { secrets?: boolean } = {}) {
  const pairs = await Promise.all(['one', 'two'].map(() => generateKeyPair('ES256', { extractable: true })))
  const keys = await Promise.all(
    pairs.map(async ({ publicKey, privateKey }, index) => {
      const kid = ['one', 'two'][index] ?? ''
      return {
        secret: JSON.stringify({ ...(await exportJWK(privateKey)), kid }),
        open: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' },
      }
    }),
  )
  const provider = await identityProvider({
    clients: [
      {
        ...{ client_id: 'robot', redirect_uris: [], response_types: [], grant_types: ['client_credentials'] },
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: keys.map(({ open }) => open) },
      },
    ],
  })
  const server = await protectedServer({
    issuer: provider.issuer,
    scopes: ['openid', 'offline_access', 'read'],
  })
  const home = await testHome({ secrets })
  const keyFile = join(home.path, 'key.json')
  const setKey = (index: number) => writeFile(keyFile, keys[index]?.secret ?? '', { mode: 0o600 })
  await setKey(0)
  return { home, provider, server, keyFile, setKey, key: keys[0]?.secret ?? '' }
}

const grants = ({ asked }: IdentityProvider) =>
  asked.filter(({ form }) => form.get('grant_type') === 'client_credentials').map(({ form }) => form)

const keyOf = (form: URLSearchParams | undefined) =>
  decodeProtectedHeader(form?.get('client_assertion') ?? '').kid

test('run logs in with the secret of a client, without a person, a browser or a place to keep the login', {
  timeout: 120_000,
}, async () => {
  const { home, provider, server } = await machineWorld({ secrets: false })
  const { id, secret } = provider.service
  await writeFile(join(home.path, 'secret'), secret)
  const args = ['run', server.mcp, '--name', 'far', ...GRANT, '--remote-auth-client-id', id]

  const url = (await home.ok([...args, '--remote-auth-client-secret-file', 'secret'])).trim()

  expect((await post(url, rpc('ping', 1))).status).toBe(200)
  expect(grants(provider)[0]?.get('resource')).toBe(server.mcp)
  expect(grants(provider)[0]?.get('scope')).toBe('read')
  expect(JSON.parse(await home.ok(['auth', 'list', '--format', 'json']))).toEqual([])
  const token = server.asked.at(-1)?.headers.authorization?.slice('Bearer '.length) ?? ''
  expect(token).toMatch(/^ey/)
  expect(await filesWith(home, token)).toEqual([])
  expect((await home.keelson(['auth', 'login', 'far'])).stderr).toContain(
    'with the credentials of its client',
  )
})

test('a client with a private key gets new tokens by itself, with the key that the file has then', {
  timeout: 120_000,
}, async () => {
  const { home, provider, server, keyFile, setKey } = await machineWorld()
  provider.expireAfter(5)
  const args = [...GRANT, '--remote-auth-client-id', 'robot', '--remote-auth-private-key-file', keyFile]
  const url = (await home.ok(['run', server.mcp, '--name', 'far', ...args])).trim()
  expect((await post(url, rpc('ping', 1))).status).toBe(200)
  expect(keyOf(grants(provider).at(-1))).toBe('one')

  await setKey(1)

  await until(async () => {
    expect((await post(url, rpc('ping', 2))).status).toBe(200)
    return keyOf(grants(provider).at(-1)) === 'two'
  })
  expect(JSON.parse(await home.ok(['status', 'far', '--format', 'json'])).status).toBe('running')
  await home.ok(['restart', 'far'])
  expect((await post(url, rpc('ping', 3))).status).toBe(200)
})

test('a client that the provider refuses any more shows as unauthenticated, and works again with a good key', {
  timeout: 120_000,
}, async () => {
  const { home, provider, server, keyFile, setKey } = await machineWorld()
  provider.expireAfter(5)
  const args = [...GRANT, '--remote-auth-client-id', 'robot', '--remote-auth-private-key-file', keyFile]
  const url = (await home.ok(['run', server.mcp, '--name', 'far', ...args])).trim()
  const status = async () => JSON.parse(await home.ok(['status', 'far', '--format', 'json']))
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  await writeFile(keyFile, JSON.stringify(await exportJWK(privateKey)))

  await until(async () => (await post(url, rpc('ping', 1))).status === 503)
  const { status: word, status_context: reason } = await status()
  expect([word, reason]).toEqual([
    'unauthenticated',
    expect.stringContaining('refuses the client of the login'),
  ])
  const before = grants(provider).length
  for (let times = 0; times < 5; times++) expect((await post(url, rpc('ping', 2))).status).toBe(503)
  expect(grants(provider).length).toBe(before)

  await setKey(0)
  await until(async () => (await post(url, rpc('ping', 3))).status === 200)
  await until(async () => (await status()).status === 'running')
})

test('proxy logs in with a private key, and with credentials that are wrong it does not start', {
  timeout: 120_000,
}, async () => {
  const { home, provider, server, keyFile } = await machineWorld()
  const target = ['proxy', 'far', '--target-uri', new URL(server.mcp).origin, ...GRANT]
  const wrong = await home.keelson([
    ...target,
    ...['--remote-auth-issuer', provider.issuer, '--remote-auth-client-id', 'nobody'],
    ...['--remote-auth-private-key-file', keyFile],
  ])
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('invalid_client')])

  const command = await startCommand([
    ...['far', '--target-uri', server.mcp, ...GRANT],
    ...['--remote-auth-client-id', 'robot', '--remote-auth-private-key-file', keyFile],
  ])

  expect((await post(command.url, rpc('ping', 1))).status).toBe(200)
})

test('over HTTP the private key is a stored secret, and the details name it', {
  timeout: 120_000,
}, async () => {
  const { home, provider, server, key } = await machineWorld()
  await home.ok(['secret', 'set', 'ROBOT'], { input: key })
  const api = await serveHome(home)
  const oauth_config = {
    grant_type: 'client_credentials',
    client_id: 'robot',
    private_key: { name: 'ROBOT', target: 'private_key' },
    signing_algorithm: 'ES256',
  }
  const body = { name: 'far', url: server.mcp, oauth_config }

  expect((await api.ask('POST', '/api/v1beta/workloads', body)).status).toBe(201)

  await api.untilStatus('far', 'running')
  const details = (await api.ask('GET', '/api/v1beta/workloads/far')).json() as { proxy_port: number }
  expect(details).toMatchObject({ oauth_config })
  const url = `http://127.0.0.1:${details.proxy_port}/mcp`
  expect((await post(url, rpc('ping', 1))).status).toBe(200)
  expect(keyOf(grants(provider).at(-1))).toBe('one')
  expect((await api.ask('POST', '/api/v1beta/workloads/far/login')).status).toBe(400)
  const d = JSON.parse(key).d as string
  expect(await filesWith(home, d)).toEqual(['key.json']) // the test's own
})

test('workloads of one client share no token where one asks for other scopes, or has another key', {
  timeout: 120_000,
}, async () => {
  const { home, server, keyFile, setKey } = await machineWorld()
  const tokens = new Set<string | undefined>()
  const run = async (name: string, ...more: string[]) => {
    const args = ['run', server.mcp, '--name', name, ...GRANT, '--remote-auth-client-id', 'robot']
    const url = await home.ok([...args, '--remote-auth-private-key-file', keyFile, ...more])
    expect((await post(url.trim(), rpc('ping', 1))).status).toBe(200)
    tokens.add(server.asked.at(-1)?.headers.authorization)
  }

  await run('all')
  await run('same')
  expect(tokens.size).toBe(1)
  await run('narrow', '--remote-auth-scopes', 'read')
  expect(tokens.size).toBe(2)
  await setKey(1)
  await run('other')
  expect(tokens.size).toBe(3)
})

test('what cannot work is refused before anything is asked', async () => {
  const home = await testHome({ secrets: false })
  const run = async (...args: string[]) => {
    const { code, stderr } = await home.keelson(['run', 'http://127.0.0.1:9/mcp', ...args])
    return [code === 0, stderr]
  }
  const [secret, key] = ['--remote-auth-client-secret-file', '--remote-auth-private-key-file']
  expect(await run(...GRANT)).toEqual([false, expect.stringContaining('needs a client_id')])
  expect(await run(secret, 'a', key, 'b')).toEqual([false, expect.stringContaining('do not go together')])
  expect(await run('--remote-auth-grant-type', 'password')).toEqual([
    false,
    expect.stringContaining('takes one of authorization_code, client_credentials'),
  ])
})
