import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import Provider from 'oidc-provider'
import { builtins } from '../../plugins/index.ts'
import { createApp } from '../../src/app.ts'
import { createLog } from '../../src/log.ts'
import { findPaths } from '../../src/paths.ts'
import { logInAsPerson } from '../plugins/auth-server/person.ts'
import { freePort } from '../support/free-port.ts'

// The authorization server of a workload, under the scenarios of the official suite for authorization servers.

const suite = new URL('../../node_modules/conformance-2026/dist/index.js', import.meta.url).pathname
const SECRET = 'the secret of keelson'

/** A check of a scenario. */
export interface Check {
  readonly scenario: string
  readonly id: string
  readonly status: string
}

/**
 * Runs all scenarios for authorization servers against one with these members of `embedded_auth_server_config`. The
 * client of the suite registers as any client does, and a script takes the place of the person.
 */
export async function checkAuthorizationServer(members: object, revision: string): Promise<Check[]> {
  const home = await mkdtemp(join(tmpdir(), 'keelson-conformance-'))
  const provider = await startProvider()
  try {
    const log = createLog({ write: () => {}, human: false, debug: false })
    const env = { HOME: home, UPSTREAM_SECRET: SECRET }
    const app = createApp({ paths: findPaths(env), log, env, entries: builtins })
    const upstream = {
      ...{ issuer_url: provider.issuer, client_id: 'keelson', client_secret_env_var: 'UPSTREAM_SECRET' },
    }
    const proxy = await (await app.service('proxies')).open({
      ...{ schema_version: 'v0.1.0', name: 'suite', transport: 'stdio', port: 0 },
      embedded_auth_server_config: { upstreams: [{ type: 'oidc', oidc_config: upstream }], ...members },
    })
    try {
      return await runSuite(new URL(proxy.url), revision, join(home, 'results'))
    } finally {
      await proxy.close({ graceMs: 0 })
    }
  } finally {
    await provider.close()
    await rm(home, { recursive: true, force: true })
  }
}

async function runSuite(url: URL, revision: string, folder: string): Promise<Check[]> {
  const port = await freePort()
  const callback = `http://127.0.0.1:${port}/callback`
  const registered = await fetch(new URL('/oauth/register', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'The suite', redirect_uris: [callback] }),
  })
  const { client_id: client } = (await registered.json()) as { client_id?: string }
  if (!client) throw new Error(`the client of the suite could not register (${registered.status})`)
  const target = ['--url', url.origin, '--resource', url.href, '--client-id', client, '--port', String(port)]
  const child = spawn(
    process.execPath,
    [suite, 'authorization', ...target, '--spec-version', revision, '-o', folder],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const exit = once(child, 'exit')
  let login: Promise<unknown> = Promise.resolve()
  createInterface({ input: child.stdout }).on('line', line => {
    if (!line.startsWith(`${url.origin}/oauth/authorize?`)) return
    login = logInAsPerson(line, callback).then(fetch)
    // Nobody comes back from a login that failed, and the suite would wait for minutes.
    login.catch(() => child.kill())
  })
  await exit
  await login
  return readChecks(folder)
}

async function readChecks(folder: string): Promise<Check[]> {
  const checks: Check[] = []
  for (const file of (await readdir(folder, { recursive: true })).sort()) {
    if (!file.endsWith('checks.json')) continue
    const scenario = file.replace(/^authorization-server-(.*)-\d{4}-\d\d-\d\dT.*$/, '$1')
    const found = JSON.parse(await readFile(join(folder, file), 'utf8')) as { id: string; status: string }[]
    checks.push(...found.map(({ id, status }) => ({ scenario, id, status })))
  }
  return checks
}

/** An OpenID provider on loopback at which everybody is Ada, and agrees. */
async function startProvider(): Promise<{ issuer: string; close(): Promise<void> }> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: 'keelson', client_secret: SECRET, application_type: 'native' },
        redirect_uris: ['http://127.0.0.1/oauth/callback'],
      },
    ],
    cookies: { keys: ['only for tests'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: () => '/interaction' },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
  })
  const handle = provider.callback()
  server.on('request', (request, response) => {
    if (request.url !== '/interaction') return void handle(request, response)
    const agree = async (): Promise<void> => {
      const { prompt, params } = await provider.interactionDetails(request, response)
      const grant = new provider.Grant({ accountId: 'ada', clientId: params.client_id })
      grant.addOIDCScope('openid profile email')
      const result =
        prompt.name === 'login'
          ? { login: { accountId: 'ada' } }
          : { consent: { grantId: await grant.save() } }
      await provider.interactionFinished(request, response, result)
    }
    agree().catch(error => response.writeHead(500).end(String(error)))
  })
  return {
    issuer,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
