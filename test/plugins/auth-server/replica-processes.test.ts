import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { openHome } from '../../e2e/home.ts'
import { freePort } from '../../support/free-port.ts'
import { allNeed } from '../../support/left-out.ts'
import { redisProblem, redisServer } from '../../support/redis-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { post, rpc, testServer } from '../proxy/test-proxy.ts'
import { oauthClient } from './auth-world.ts'
import { plainProvider } from './plain-provider.ts'

allNeed(redisProblem())

type Replica = { readonly origin: string; readonly client: ReturnType<typeof oauthClient> }

/** Three programs on what could be three machines: each has a folder of its own, and they share a Redis and keys. */
async function replicas() {
  const redis = await redisServer()
  const provider = await plainProvider()
  const server = await testServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { id } = JSON.parse(body || '{}') as { id?: number }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
  })
  const folder = await temporaryFolder()
  const [keyFile, secretFile] = [join(folder, 'key.pem'), join(folder, 'secret')]
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  await writeFile(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  await writeFile(secretFile, randomBytes(32).toString('base64'), { mode: 0o600 })
  const ports = [await freePort(), await freePort(), await freePort()]
  const issuer = `http://127.0.0.1:${ports[0]}`
  const started = ports.map(async (port): Promise<Replica> => {
    const home = await openHome({ APP_SECRET: 'app-secret' })
    onTestFinished(() => home.closeRemote())
    const upstream = {
      authorization_endpoint: `${provider.origin}/authorize`,
      token_endpoint: `${provider.origin}/token`,
      ...{ client_id: 'app', client_secret_env_var: 'APP_SECRET' },
      userinfo: { endpoint_url: `${provider.origin}/user` },
    }
    const config = {
      ...{ schema_version: 'v0.1.0', name: 'notes', transport: 'streamable-http', port },
      remote_url: `${server}/mcp`,
      embedded_auth_server_config: {
        issuer,
        upstreams: [{ name: 'plain', type: 'oauth2', oauth2_config: upstream }],
        signing_key_config: { signing_key_file: keyFile },
        hmac_secret_files: [secretFile],
        storage: { type: 'redis', redis_config: { addr: `127.0.0.1:${redis.port}` } },
      },
    }
    await writeFile(join(home.path, 'notes.json'), JSON.stringify(config))
    const child = home.start([
      ...['run', '--from-config', 'notes.json', '--foreground'],
      ...['--auth-server-credential', 'APP_SECRET', '--auth-server-allow-private-ip'],
    ])
    onTestFinished(async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    })
    const said: string[] = []
    child.stderr?.on('data', chunk => said.push(String(chunk)))
    const up = once(createInterface({ input: child.stdout ?? process.stdin }), 'line')
    const gone = once(child, 'exit').then(() => Promise.reject(new Error(said.join(''))))
    await Promise.race([up, gone])
    gone.catch(() => undefined)
    const origin = `http://127.0.0.1:${port}`
    return { origin, client: oauthClient(origin) }
  })
  const [one, two, three] = await Promise.all(started)
  if (!one || !two || !three) throw new Error('there are three')
  return { one, two, three, provider }
}

type Tokens = { access_token: string; refresh_token: string }

test('a login begun at one process goes on at the next, and what is revoked at one is refused at all', {
  timeout: 180_000,
}, async () => {
  const { one, two, three, provider } = await replicas()
  const { resource } = one.client
  const id = await three.client.registered()
  const tab = one.client.browser()
  const { url } = await tab.follow(one.client.authorizeUrl(id))
  const page = await tab.follow(await provider.visit(url))
  const agreed = await tab.press(await page.response.text(), 'allow')
  const code = new URL(agreed.url).searchParams.get('code') ?? ''

  const redeem = { ...two.client.codeFields(id, code), resource }
  const issued = await two.client.token(redeem)
  expect(issued.status).toBe(200)
  const first = (await issued.json()) as Tokens
  const renewed = await three.client.refresh(id, first.refresh_token)
  expect(renewed.status).toBe(200)
  const second = (await renewed.json()) as Tokens
  const call = async ({ origin }: Replica, token: string) =>
    (await post(`${origin}/mcp`, rpc('ping', 1), { authorization: `Bearer ${token}` })).status
  for (const replica of [one, two, three])
    for (const { access_token: token } of [first, second]) expect(await call(replica, token)).toBe(200)

  const body = new URLSearchParams({ token: second.refresh_token, client_id: id })
  expect((await fetch(`${one.origin}/oauth/revoke`, { method: 'POST', body })).status).toBe(200)
  expect((await two.client.refresh(id, second.refresh_token)).status).toBe(400)
  expect((await three.client.token(redeem)).status).toBe(400)
  for (const replica of [one, two, three]) expect(await call(replica, second.access_token)).toBe(401)
})
