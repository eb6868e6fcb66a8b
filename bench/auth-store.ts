import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createClient } from '@redis/client'
import { createGrants } from '../plugins/auth-server/grants/grants.ts'
import { openStore } from '../plugins/auth-server/storage/open-store.ts'
import { findFreePort } from '../src/lib/ports.ts'
import type { Result } from './result.ts'

const GRANTS = 100_000
const AT_ONCE = 500
const MOST_MB = 150
const LIFETIME_MS = 7 * 24 * 3600_000

const id = () => randomBytes(16).toString('base64url')

/** How much memory the grants of an authorization server take in a real Redis, and how long one takes to store. */
export async function run(): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  const port = await findFreePort()
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
  const server = spawn('redis-server', settings, { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    for await (const line of createInterface({ input: server.stdout })) if (line.includes('Ready to')) break
    server.stdout.resume()
    const redis = createClient({ socket: { host: '127.0.0.1', port } })
    redis.on('error', () => undefined) // a command that needs it fails
    await redis.connect()
    const megabytes = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]) / 1e6
    const store = await openStore(
      { type: 'redis', redis_config: { addr: `127.0.0.1:${port}` } },
      { name: 'notes', folder, env: {}, log: console, secrets: [randomBytes(32).toString('base64')] },
    )
    const grants = createGrants(store, { lifetimeMs: LIFETIME_MS, isGood: () => true })

    const empty = await megabytes()
    const startedAt = performance.now()
    const ids: string[] = []
    for (let made = 0; made < GRANTS; made += AT_ONCE) {
      const some = Array.from({ length: AT_ONCE }, (_, index) => grantOf(made + index))
      await Promise.all(some.map(grant => grants.create(grant)))
      ids.push(...some.map(grant => grant.id))
    }
    const seconds = (performance.now() - startedAt) / 1000
    const full = (await megabytes()) - empty
    for (let at = 0; at < GRANTS; at += AT_ONCE) {
      const some = ids.slice(at, at + AT_ONCE)
      const tokens = () => ({
        accessToken: `gho_${randomBytes(18).toString('hex')}`,
        refreshToken: `ghr_${randomBytes(38).toString('hex')}`,
        expiresAt: Date.now(),
        scopes: ['repo', 'user'],
      })
      await Promise.all(some.map(grant => grants.keepUpstream(grant, 'github', tokens())))
    }
    const withUpstream = (await megabytes()) - empty
    const stored = await store.count('grant')
    await store.close()
    redis.destroy()
    return {
      name: 'auth-store',
      conditions: `one Redis, one process; ${AT_ONCE} grants at once; grants of a person with name and email`,
      measured: stored,
      figures: {
        'grants stored': stored,
        'MB in Redis for the grants': full,
        [`MB in Redis with upstream tokens in the shape of GitHub (at most ${MOST_MB})`]: withUpstream,
        'ms to store a grant': (seconds * 1000) / stored,
      },
      ok: stored === GRANTS && withUpstream <= MOST_MB,
    }
  } finally {
    server.kill('SIGKILL')
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    await rm(folder, { recursive: true, force: true })
  }
}

const grantOf = (number: number) => ({
  id: id(),
  clientId: id(),
  subject: `248289761001-${number}`,
  issuer: 'default https://login.example.com',
  admission: {},
  name: `Person Number ${number}`,
  email: `person.number.${number}@example.com`,
  scopes: ['openid', 'profile', 'email', 'offline_access'],
  audience: 'https://notes.example.com/mcp',
  refreshes: true,
  upstreams: ['github'],
})
