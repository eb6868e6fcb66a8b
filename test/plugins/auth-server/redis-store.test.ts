import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as passed } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkStorage, openStore } from '../../../plugins/auth-server/storage/open-store.ts'
import { type RedisConfig, readRedisSettings } from '../../../plugins/auth-server/storage/redis-settings.ts'
import { openRedisStore } from '../../../plugins/auth-server/storage/redis-store.ts'
import { allNeed } from '../../support/left-out.ts'
import {
  redisClusterNode,
  redisCommands,
  redisProblem,
  redisSentinel,
  redisServer,
} from '../../support/redis-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { storeContract } from './store-contract.ts'

allNeed(redisProblem())

const HOUR = 3_600_000
const UNAVAILABLE = { code: 'auth_store_unavailable', status: 503 }

/** A replica of the workload `notes`. */
async function replica(
  config: RedisConfig,
  { env = {}, ...options }: { env?: Record<string, string> } & Parameters<typeof openRedisStore>[1] = {},
) {
  const store = await openRedisStore(await readRedisSettings(config, { name: 'notes', env }), options)
  onTestFinished(() => store.close())
  return store
}

storeContract('in Redis', async capacity => {
  const { port } = await redisServer()
  const open = () => replica({ addr: `127.0.0.1:${port}` }, { capacity })
  return {
    store: await open(),
    other: await open(),
    pass: async ms => {
      await passed(ms + 5) // Redis has no other clock than the machine's
    },
  }
})

test('all keys of a workload have its prefix, and end by themselves', async () => {
  const { port } = await redisServer()
  const store = await replica({ addr: `127.0.0.1:${port}` })
  const redis = await redisCommands(port)
  await store.add('grant', 'a', 'value', HOUR)
  await store.add('grant', 'b', 'value', 60_000)
  await store.replace('grant', 'b', 'value', 'new', 60_000, 'c')
  const keys = await redis.keys('*')
  expect(keys.toSorted()).toEqual([
    'keelson:auth:{notes}:grant:a',
    'keelson:auth:{notes}:grant:c',
    'keelson:auth:{notes}:index:grant',
  ])
  for (const key of keys) expect(await redis.pTTL(key), key).toBeGreaterThan(0)
  expect(await redis.pTTL('keelson:auth:{notes}:index:grant')).toBeGreaterThan(HOUR - 60_000)
})

test('two workloads, or two prefixes, share nothing', async () => {
  const { port } = await redisServer()
  const one = await replica({ addr: `127.0.0.1:${port}` })
  const other = await replica({ addr: `127.0.0.1:${port}`, key_prefix: 'other:' })
  await one.add('grant', 'a', 'value', HOUR)
  expect(await other.get('grant', 'a')).toBeUndefined()
  expect(await other.count('grant')).toBe(0)
})

test('a copy of Redis holds neither keys nor values', async () => {
  const { port } = await redisServer()
  const storage = { type: 'redis', redis_config: { addr: `127.0.0.1:${port}` } } as const
  const folder = await temporaryFolder()
  const store = await openStore(storage, {
    name: 'notes',
    env: {},
    log: console,
    folder,
    secrets: ['secret'],
  })
  onTestFinished(() => store.close())
  await store.add('grant', 'refresh-token-of-ada', '{"accessToken":"upstream-token"}', HOUR)
  const redis = await redisCommands(port)
  const [entry = ''] = await redis.keys('*:grant:*')
  const all = [
    entry,
    await redis.get(entry),
    ...(await redis.zRange('keelson:auth:{notes}:index:grant', 0, -1)),
  ]
  expect(all).toHaveLength(3)
  expect(all.join()).not.toMatch(/refresh-token|ada|upstream-token|accessToken/)
})

test('a Redis that is away fails at once, and serves again when it is back', async () => {
  const server = await redisServer()
  const store = await replica({ addr: `127.0.0.1:${server.port}` })
  await store.add('grant', 'a', 'value', HOUR)
  await server.kill()
  await expect.poll(() => store.get('grant', 'a').then(String, error => error)).toMatchObject(UNAVAILABLE)
  const many = await Promise.allSettled(
    Array.from({ length: 2000 }, (_, index) => store.add('grant', `${index}`, 'value', HOUR)),
  )
  for (const { status } of many) expect(status).toBe('rejected')
  await server.restart()
  await expect.poll(() => store.add('grant', 'b', 'value', HOUR).catch(() => undefined)).toBe(true)
  expect(await store.get('grant', 'b')).toBe('value')
})

test('a Redis that does not respond fails within the time that was configured', async () => {
  const server = await redisServer()
  const store = await replica({
    addr: `127.0.0.1:${server.port}`,
    read_timeout: '200ms',
    write_timeout: '200ms',
  })
  server.process.kill('SIGSTOP')
  onTestFinished(() => void server.process.kill('SIGCONT'))
  const failed = await Promise.allSettled(
    Array.from({ length: 1500 }, (_, index) => store.get('grant', `${index}`)),
  )
  for (const outcome of failed) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: UNAVAILABLE })
  }
  server.process.kill('SIGCONT')
  await expect.poll(() => store.add('grant', 'b', 'value', HOUR).catch(() => undefined)).toBe(true)
})

test('nobody listening is said at the start, without a wait', async () => {
  const server = await redisServer()
  await server.kill()
  const error = await replica({ addr: `127.0.0.1:${server.port}` }).catch(error => error)
  expect(error).toMatchObject(UNAVAILABLE)
  expect(error.message).toContain(`127.0.0.1:${server.port}`)
})

test('sentinels that are away are said at the start', async () => {
  const server = await redisServer()
  await server.kill()
  const config = {
    sentinel_config: { master_name: 'main', sentinel_addrs: [`127.0.0.1:${server.port}`] },
    ...{ dial_timeout: '100ms', read_timeout: '100ms', write_timeout: '100ms' },
  }
  await expect(replica(config)).rejects.toMatchObject(UNAVAILABLE)
})

test('the user and password come from the environment, and no failure shows them', async () => {
  const { port } = await redisServer(['user default off', 'user keeper on >right-password ~* +@all'])
  const config = {
    addr: `127.0.0.1:${port}`,
    auth_type: 'aclUser',
    acl_user_config: { username_env_var: 'REDIS_USER', password_env_var: 'REDIS_PASSWORD' },
  }
  const store = await replica(config, { env: { REDIS_USER: 'keeper', REDIS_PASSWORD: 'right-password' } })
  expect(await store.add('grant', 'a', 'value', HOUR)).toBe(true)
  const env = { REDIS_USER: 'keeper', REDIS_PASSWORD: 'wrong-password' }
  const error = await replica(config, { env }).catch(error => error)
  expect(error).toMatchObject(UNAVAILABLE)
  expect(error.message).toContain('WRONGPASS')
  expect(JSON.stringify([error, error.message, error.hint])).not.toContain('wrong-password')
  await expect(replica(config, { env: { REDIS_USER: 'keeper' } })).rejects.toMatchObject({
    code: 'auth_store_config_invalid',
    message: expect.stringContaining('REDIS_PASSWORD'),
  })
})

describe('with TLS', () => {
  async function tlsServer() {
    const folder = await temporaryFolder()
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
    const kind = [
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
    ]
    execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' })
    const { port } = await redisServer([
      `tls-cert-file ${cert}`,
      `tls-key-file ${key}`,
      'tls-auth-clients no',
    ])
    return { cert, port }
  }

  test('a server with a certificate of the file is used', async () => {
    const { cert, port } = await tlsServer()
    const store = await replica({ addr: `localhost:${port}`, tls: { ca_cert_file: cert } })
    expect(await store.add('grant', 'a', 'value', HOUR)).toBe(true)
  })

  test('a server that nobody vouches for, or that has another name, is refused', async () => {
    const { cert, port } = await tlsServer()
    for (const config of [
      { addr: `localhost:${port}`, tls: {} },
      { addr: `127.0.0.1:${port}`, tls: { ca_cert_file: cert } },
    ]) {
      await expect(replica(config), config.addr).rejects.toMatchObject(UNAVAILABLE)
    }
    const store = await replica({ addr: `localhost:${port}`, tls: { insecure_skip_verify: true } })
    expect(await store.add('grant', 'a', 'value', HOUR)).toBe(true)
  })

  test('a CA file that is not there is named', async () => {
    const config = { addr: 'localhost:1', tls: { ca_cert_file: '/nowhere/ca.pem' } }
    await expect(replica(config)).rejects.toMatchObject({
      code: 'auth_store_config_invalid',
      message: expect.stringContaining('/nowhere/ca.pem'),
    })
  })
})

test('a sentinel says where the primary is', async () => {
  const primary = await redisServer()
  const sentinel = await redisSentinel(primary.port)
  const sentinels = { master_name: 'main', sentinel_addrs: [`127.0.0.1:${sentinel.port}`], db: 3 }
  const store = await replica({ sentinel_config: sentinels })
  expect(await store.add('grant', 'a', 'value', HOUR)).toBe(true)
  expect(await store.add('grant', 'a', 'value', HOUR)).toBe(false)
  expect(await store.take('grant', 'a')).toBe('value')
  await store.add('grant', 'b', 'value', HOUR)
  const redis = await redisCommands(primary.port)
  expect(await redis.dbSize()).toBe(0)
  await redis.select(3)
  expect(await redis.dbSize()).toBe(2)
  await primary.kill()
  await expect.poll(() => store.get('grant', 'b').then(String, error => error)).toMatchObject(UNAVAILABLE)
  await primary.restart()
  let tries = 0 // one whose response is lost may have added its entry
  await expect.poll(() => store.add('grant', `c${tries++}`, 'value', HOUR).catch(() => undefined)).toBe(true)
})

test('after a fail-over the new primary is found, and what it was given is there', async () => {
  const primary = await redisServer()
  const second = await redisServer([`replicaof 127.0.0.1 ${primary.port}`])
  const sentinel = await redisSentinel(primary.port)
  const sentinels = { master_name: 'main', sentinel_addrs: [`127.0.0.1:${sentinel.port}`] }
  const store = await replica({ sentinel_config: sentinels })
  expect(await store.add('grant', 'a', 'value', HOUR)).toBe(true)
  const [there, watcher] = [await redisCommands(second.port), await redisCommands(sentinel.port)]
  await expect.poll(() => there.dbSize()).toBe(2)
  const known = async () => JSON.stringify(await watcher.sendCommand(['SENTINEL', 'replicas', 'main']))
  await expect.poll(known).toContain(String(second.port))

  await primary.kill()
  const failures: unknown[] = []
  let tries = 0
  const add = () => store.add('grant', `b${tries++}`, 'value', HOUR).catch(error => void failures.push(error))
  await expect.poll(add, { timeout: 60_000 }).toBe(true)
  for (const failure of failures) expect(failure).toMatchObject(UNAVAILABLE)
  expect(await store.get('grant', 'a')).toBe('value')
  expect(await store.add('grant', 'a', 'other', HOUR)).toBe(false)
  expect(await there.info('replication')).toContain('role:master')
}, 120_000)

test('a node of a cluster behind one address is refused', async () => {
  const { port } = await redisClusterNode()
  await expect(replica({ addr: `127.0.0.1:${port}` })).rejects.toMatchObject({
    ...UNAVAILABLE,
    message: expect.stringContaining('it is a node of a Redis Cluster, which is not supported'),
  })
})

test.each<[string, RedisConfig, string]>([
  ['no address', {}, 'not HOST:PORT'],
  ['a URL', { addr: 'redis://user:secret@host:6379' }, 'not HOST:PORT'],
  ['a port beyond the last', { addr: 'host:70000' }, 'not HOST:PORT'],
  ['a cluster', { addr: 'host:1', cluster_mode: true }, 'cluster_mode'],
  ['another way to log in', { addr: 'host:1', auth_type: 'iam' }, 'auth_type'],
  ['a login without a password', { addr: 'host:1', auth_type: 'aclUser' }, 'password_env_var'],
  ['sentinels without a name', { sentinel_config: { sentinel_addrs: ['host:1'] } }, 'master_name'],
  ['sentinels without an address', { sentinel_config: { master_name: 'main' } }, 'sentinel_addrs'],
  ['sentinels and an address', { addr: 'host:1', sentinel_config: { master_name: 'main' } }, 'go together'],
  ['a time without a unit', { addr: 'host:1', read_timeout: '3' }, 'read_timeout'],
  ['a time that is too long', { addr: 'host:1', dial_timeout: '1h' }, 'dial_timeout'],
])('a configuration with %s is refused', (_, config, problem) => {
  expect(() => checkStorage({ type: 'redis', redis_config: config })).toThrow(
    expect.objectContaining({ code: 'auth_store_config_invalid', message: expect.stringContaining(problem) }),
  )
})

test('a configuration of Redis for another type is refused', () => {
  expect(() => checkStorage({ type: 'sqlite', redis_config: { addr: 'host:1' } })).toThrow(/type redis/)
})
