import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loginAuthorizationOf } from '../../../plugins/auth-out/logins/login-authorization.ts'
import { createLoginKeeper } from '../../../plugins/auth-out/logins/login-keeper.ts'
import { createLoginMemory } from '../../../plugins/auth-out/logins/login-memory.ts'
import { createLoginNotes } from '../../../plugins/auth-out/logins/login-notes.ts'
import { createLoginStore, loginKey } from '../../../plugins/auth-out/logins/login-store.ts'
import { readChallenge } from '../../../plugins/auth-out/oauth/challenge.ts'
import type { Discovery, OAuthEngine, TokenSet } from '../../../plugins/auth-out/oauth/types.ts'
import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { failures } from '../../../src/errors.ts'
import { createLog } from '../../../src/log.ts'
import { until } from '../proxy/test-proxy.ts'

const CONFIG: RunConfig = {
  schema_version: 'v0.1.0',
  name: 'far',
  transport: 'streamable-http',
  port: 0,
  remote_url: 'https://mcp.invalid/mcp',
  remote_auth_config: { cached_client_id: 'keelson' },
}
const ISSUER = 'https://issuer.invalid'
const DISCOVERY: Discovery = {
  issuer: ISSUER,
  server: { issuer: ISSUER },
  found: 'origin',
  resource: 'https://mcp.invalid/mcp',
  scopes: [],
  mayBePrivate: false,
}

/** Requests with a login whose access tokens live for these seconds. */
async function loggedIn(seconds: number) {
  let refreshes = 0
  const next = (): TokenSet => ({
    accessToken: `token-${++refreshes}`,
    refreshToken: 'refresh',
    expiresAt: Date.now() + seconds * 1000,
    scopes: [],
  })
  const engine = {
    detect: async () => ({ kind: 'login', challenge: { status: 401 } }),
    discover: async () => DISCOVERY,
    renewClient: async ({ client }: { client: unknown }) => client,
    refresh: async () => ({ kind: 'renewed', tokens: next() }),
    readChallenge,
  } as unknown as OAuthEngine
  const folder = await mkdtemp(join(tmpdir(), 'keelson-logins-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const notes = createLoginNotes(folder)
  const memory = createLoginMemory(notes)
  const store = createLoginStore(() => Promise.reject(failures.service_missing({ service: 'secrets' })), {
    process: memory,
    supervisor: memory,
  })
  const client = { kind: 'registered', issuer: ISSUER, clientId: 'keelson', authMethod: 'none' } as const
  const origin = 'https://mcp.invalid'
  const record = {
    origin,
    discovery: DISCOVERY,
    client,
    refreshToken: 'refresh',
    scopes: [],
    loggedInAt: 'now',
  }
  const expired = { accessToken: 'expired', refreshToken: 'refresh', expiresAt: 0, scopes: [] }
  await memory.set(loginKey(origin, DISCOVERY, undefined), { record, tokens: expired })
  const services = {
    remoteLogins: createLoginKeeper({ engine, store, folder, notes }),
    oauthEngine: engine,
    settings: { get: async () => undefined },
    workloadStore: { configs: { list: async () => [CONFIG] } },
  }
  const app = { env: {}, service: async (name: keyof typeof services) => services[name] } as unknown as App
  const log = createLog({ write: () => undefined, human: false, debug: false })
  const authorization = await loginAuthorizationOf(app, CONFIG, { log, setAccess: () => undefined })
  onTestFinished(() => authorization.close())
  await until(() => refreshes > 0)
  return { authorization, refreshes: () => refreshes }
}

test.each([20, 30])('an access token that lives %d seconds is not renewed by each request', async seconds => {
  const { authorization, refreshes } = await loggedIn(seconds)

  const values = []
  for (let request = 0; request < 20; request++) values.push(await authorization.value(false))

  expect(new Set(values.map(value => JSON.stringify(value)))).toEqual(
    new Set([JSON.stringify({ header: 'Bearer token-1' })]),
  )
  expect(refreshes()).toBe(1)
})

test('an access token is renewed once, before it ends', async () => {
  const { authorization, refreshes } = await loggedIn(4)

  await until(async () => {
    await authorization.value(false)
    return refreshes() > 1
  })

  for (let request = 0; request < 20; request++) await authorization.value(false)
  expect(refreshes()).toBe(2)
})
