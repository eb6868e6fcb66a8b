import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startApi } from '../../support/api-server.ts'
import type { KeelsonUser } from '../../support/keelson.ts'
import { guardedServer, testHome } from '../auth-out/guarded-server.ts'
import { post } from '../proxy/test-proxy.ts'
import { call, statusesOf } from './limit-world.ts'

const path = '/api/v1beta/workloads'

test('limits of flags count, are exported, and are what a file and a request say', {
  timeout: 120_000,
}, async () => {
  const home = await testHome({ secrets: false })
  const { url } = await guardedServer()
  const flags = ['--rate-limit', '2/h', '--rate-limit-per-user', '100/1m', '--max-concurrent-calls', '9']
  const shown = await home.ok(['run', url, '--name', 'a', ...flags, '--call-timeout', '90s'])
  const calls = (of: string) => statusesOf(3, () => post(of.trim(), call('echo')))
  expect(await calls(shown)).toEqual([200, 200, 429])

  await home.ok(['export', 'a', 'a.json'])
  const config = JSON.parse(await readFile(join(home.path, 'a.json'), 'utf8'))
  const rate_limit_config = {
    shared: { maxTokens: 2, refillPeriod: '1h' },
    perUser: { maxTokens: 100, refillPeriod: '1m' },
    maxConcurrentCalls: 9,
    callTimeout: '1m30s',
  }
  expect(config).toMatchObject({ rate_limit_config })
  const named = { ...config, name: 'bb', container_name: 'bb', port: 0 }
  await writeFile(join(home.path, 'b.json'), JSON.stringify(named))
  expect(await calls(await home.ok(['run', '--from-config', 'b.json']))).toEqual([200, 200, 429])

  const scaling_config = { session_redis: { address: 'evil.example:6379' } }
  await writeFile(
    join(home.path, 'c.json'),
    JSON.stringify({ ...named, name: 'cc', container_name: 'cc', scaling_config }),
  )
  const unconfirmed = await home.keelson(['run', '--from-config', 'c.json'])
  expect(unconfirmed.stderr).toContain('--rate-limit-redis evil.example:6379')
  expect([unconfirmed.code, unconfirmed.stdout]).toEqual([2, ''])

  const user: KeelsonUser = {
    ...{ home: home.path, env: home.env },
    run: (args, options) => home.keelson(args, options) as never,
  }
  const api = await startApi({ user })
  const made = await api.ask('POST', path, { name: 'd', url, rate_limit_config })
  expect([made.status, made.text]).toEqual([201, expect.any(String)])
  await api.untilStatus('d', 'running')
  const details = (await api.ask('GET', `${path}/d`)).json() as object
  expect(details).toMatchObject({ rate_limit_config })
  const less = { ...details, rate_limit_config: { shared: { maxTokens: 1, refillPeriod: '1h' } } }
  expect((await api.ask('POST', `${path}/d/edit`, less)).status).toBe(200)
  await api.untilStatus('d', 'running')
  const { proxy_port } = (await api.ask('GET', `${path}/d`)).json()
  expect(await calls(`http://127.0.0.1:${proxy_port}/mcp`)).toEqual([200, 429, 429])
  const redis = await api.ask('POST', path, { name: 'e', url, rate_limit_config, scaling_config })
  expect([redis.status, redis.text]).toEqual([400, expect.stringContaining('evil.example:6379')])
})
