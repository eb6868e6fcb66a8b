import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { expect, onTestFinished, test } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { createApp } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { identityProvider } from '../../support/identity-provider.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { application } from './application.ts'

const everything = new URL(
  '../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
  import.meta.url,
).pathname

/** A stdio server as a workload that people log in to at a provider. */
async function protectedWorkload(section: object = {}) {
  const provider = await identityProvider({
    clients: [
      {
        ...{ client_id: 'keelson', client_secret: 'the secret of keelson', application_type: 'native' },
        redirect_uris: ['http://127.0.0.1/oauth/callback'],
      },
    ],
  })
  const home = await temporaryFolder()
  const log = createLog({ write: () => {}, human: false, debug: false })
  const env = { HOME: home, UPSTREAM_SECRET: 'the secret of keelson' }
  const app = createApp({ paths: findPaths(env), log, env, entries: builtins })
  const upstream = {
    issuer_url: provider.issuer,
    client_id: 'keelson',
    client_secret_env_var: 'UPSTREAM_SECRET',
  }
  const config: RunConfig = {
    ...{ schema_version: 'v0.1.0', name: 'protected', transport: 'stdio', port: 0 },
    embedded_auth_server_config: { upstreams: [{ type: 'oidc', oidc_config: upstream }], ...section },
  }
  const proxy = await (await app.service('proxies')).open(config)
  onTestFinished(() => proxy.close({ graceMs: 0 }))
  const child = spawn(process.execPath, [everything, 'stdio'], { stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exit = once(child, 'exit').then(() => ({}))
  const { stdin, stdout, stderr } = child
  const attachment = { stdin, stdout, stderr, exit, detach: () => child.stdin.end() }
  await proxy.connect({ kind: 'stdio', attachment })
  return { url: new URL(proxy.url), provider }
}

test('the official client logs in to a stdio server with nothing but its URL', async () => {
  const { url } = await protectedWorkload()
  const { kept, provider } = application()
  const first = new HttpV1(url, { authProvider: provider })
  await expect(new ClientV1({ name: 'test', version: '1' }).connect(first as Transport)).rejects.toThrow()
  await first.finishAuth(kept.back?.searchParams.get('code') ?? '')
  const client = new ClientV1({ name: 'test', version: '1' })
  await client.connect(new HttpV1(url, { authProvider: provider }) as Transport)
  onTestFinished(() => client.close())
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo')
  expect(kept.tokens).toMatchObject({ token_type: 'Bearer', refresh_token: expect.any(String) })
})

test.each(['localhost', '127.0.0.1'])('it logs in to a server that it knows by the name %s', async name => {
  const { url } = await protectedWorkload()
  const known = new URL(url)
  known.hostname = name
  const { kept, provider } = application()
  const first = new HttpV2(known, { authProvider: provider } as ConstructorParameters<typeof HttpV2>[1])
  await expect(new ClientV2({ name: 'test', version: '1' }).connect(first)).rejects.toThrow()
  await first.finishAuth(kept.back?.searchParams ?? new URLSearchParams())
  const client = new ClientV1({ name: 'test', version: '1' })
  await client.connect(new HttpV1(known, { authProvider: provider }) as Transport)
  onTestFinished(() => client.close())
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo')

  const metadata = new URL('/.well-known/oauth-protected-resource/mcp', known)
  expect(await (await fetch(metadata)).json()).toMatchObject({ resource: known.href })
})

test('version 2 of it logs in as well, and a login that was ended is over at once', async () => {
  const { url } = await protectedWorkload({ storage: { type: 'sqlite' } })
  const { kept, provider } = application()
  const transport = () =>
    new HttpV2(url, { authProvider: provider } as ConstructorParameters<typeof HttpV2>[1])
  const first = transport()
  await expect(new ClientV2({ name: 'test', version: '1' }).connect(first)).rejects.toThrow()
  await first.finishAuth(kept.back?.searchParams ?? new URLSearchParams())
  const client = new ClientV2({ name: 'test', version: '1' })
  await client.connect(transport())
  onTestFinished(() => client.close())
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo')

  const ask = (token = kept.tokens?.access_token) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${token}`,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    })
  expect((await ask()).status).not.toBe(401)
  // It is for the client alone.
  expect(kept.tokens?.id_token).toEqual(expect.any(String))
  expect((await ask(kept.tokens?.id_token)).status).toBe(401)
  const body = new URLSearchParams({
    token: kept.tokens?.refresh_token ?? '',
    client_id: kept.client?.client_id ?? '',
  })
  await fetch(new URL('/oauth/revoke', url), { method: 'POST', body })
  expect((await ask()).status).toBe(401)
})
