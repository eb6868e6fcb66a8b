import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startApi } from '../../support/api-server.ts'
import { startTinyMcp } from '../../support/tiny-mcp.ts'

const path = '/api/v1beta/workloads'

test('a workload is made, listed, described, exported, edited, stopped, restarted and deleted', async () => {
  const api = await startApi()
  const url = await startTinyMcp()

  const made = await api.ask('POST', path, { name: 'a', url })
  expect(made.status).toBe(201)
  const { port } = made.json() as { port: number }
  await api.untilStatus('a', 'running')

  const listed = await api.ask('GET', path)
  expect(listed.json()).toMatchObject({ workloads: [{ name: 'a', port, status: 'running', remote: true }] })
  const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  })
  expect(answer.status).toBe(200)

  const details = (await api.ask('GET', `${path}/a`)).json() as Record<string, unknown>
  expect(details).toMatchObject({
    name: 'a',
    url,
    proxy_port: port,
    authz_config: '',
    permission_profile: null,
  })
  expect((await api.ask('GET', `${path}/a/export`)).json()).toMatchObject({
    ...{ schema_version: 'v0.1.0', name: 'a', remote_url: url, image: '', permission_profile: null },
  })
  expect((await api.ask('GET', `${path}/a/proxy-logs`)).headers.get('content-type')).toBe('text/plain')

  const edited = await api.ask('POST', `${path}/a/edit`, { ...details, trust_proxy_headers: true })
  expect([edited.status, edited.json()]).toEqual([200, { name: 'a', port }])
  await api.untilStatus('a', 'running')
  expect((await api.ask('GET', `${path}/a`)).json()).toEqual({ ...details, trust_proxy_headers: true })

  const stopped = await api.ask('POST', `${path}/a/stop`)
  expect([stopped.status, stopped.headers.get('content-type')]).toEqual([202, 'application/json'])
  await api.untilStatus('a', 'stopped')
  expect((await api.ask('GET', path)).json()).toEqual({ workloads: [] })
  expect((await api.ask('GET', `${path}/?all=true`)).json()).toMatchObject({
    workloads: [{ status: 'stopped' }],
  })
  expect((await api.ask('POST', `${path}/a/stop`)).status).toBe(202)

  expect((await api.ask('POST', `${path}/a/restart`)).status).toBe(202)
  await api.untilStatus('a', 'running')
  expect((await api.ask('DELETE', `${path}/a`)).status).toBe(202)
  await expect.poll(async () => (await api.ask('GET', `${path}/a`)).status).toBe(404)
})

test('new workloads are listed from the moment of the response, also when many are made at once', async () => {
  const api = await startApi()
  const url = await startTinyMcp()
  const names = Array.from({ length: 8 }, (_, i) => `many-${i}`)
  await Promise.all(
    names.map(async name => {
      expect((await api.ask('POST', path, { name, url })).status).toBe(201)
      const { workloads } = (await api.ask('GET', path)).json() as { workloads: object[] }
      expect(workloads).toContainEqual(
        expect.objectContaining({ name, status: expect.stringMatching(/^(starting|running)$/) }),
      )
    }),
  )
  for (const name of names) await api.untilStatus(name, 'running')
})

test('each mistake of a new workload gets the status of its failure', async () => {
  const api = await startApi()
  const url = await startTinyMcp()
  const create = async (body: unknown) => (await api.ask('POST', path, body)).status
  const busy = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => busy.once('listening', resolve))
  const { port } = busy.address() as { port: number }

  expect(await create('{')).toBe(400)
  expect(await create('')).toBe(400)
  expect(await create('null')).toBe(400)
  expect(await create('[]')).toBe(400)
  expect(await create({ name: '', url })).toBe(400)
  expect(await create({ name: '..', url })).toBe(400)
  expect(await create({ name: 'x' })).toBe(400)
  expect(await create({ name: 'x', url: 'ftp://a' })).toBe(400)
  expect(await create({ name: 'x', url, image: 'a' })).toBe(400)
  expect(await create({ name: 'x', url, transport: 'stdio' })).toBe(400)
  expect(await create({ name: 'x', url, transport: 'smoke' })).toBe(400)
  expect(await create({ name: 'x', url, proxy_mode: 'smoke' })).toBe(400)
  expect(await create({ name: 'x', url, proxy_port: 'x' })).toBe(400)
  expect(await create({ name: 'x', url, proxy_port: port })).toBe(400)
  expect(await create({ name: 'x', server: 'fetch' })).toBe(400)
  expect(await create({ name: 'x', registry: 'mine', server: 'fetch' })).toBe(400)
  expect(await create({ name: 'x', url, tools: ['a', ''] })).toBe(400)
  expect(await create({ name: 'x', url, group: 'nowhere' })).toBe(404)
  expect(await create({ name: 'x', registry: 'default', server: 'no-such-server' })).toBe(404)
  expect(await create({ name: 'x', url, secrets: [{ name: 's', target: 'T' }] })).toBe(400)
  expect((await api.ask('GET', `${path}?all=true`)).json()).toEqual({ workloads: [] })

  expect(await create({ name: 'x', url, tools: [], oidc: { issuer: '' }, image: '' })).toBe(201)
  const again = await api.ask('POST', path, { name: 'x', url })
  expect([again.status, again.text]).toEqual([409, expect.stringContaining('already exists')])
  busy.close()
})

test('an unknown workload is 404 and an invalid name 400, for every operation', async () => {
  const api = await startApi()
  for (const [name, status] of [
    ['nobody', 404],
    ['a%2Fb', 400],
  ] as const) {
    for (const [method, tail] of [
      ['GET', ''],
      ['GET', '/status'],
      ['GET', '/logs'],
      ['GET', '/proxy-logs'],
      ['GET', '/export'],
      ['POST', '/stop'],
      ['POST', '/restart'],
      ['DELETE', ''],
    ] as const) {
      const answer = await api.ask(method, `${path}/${name}${tail}`)
      expect([name, tail, answer.status]).toEqual([name, tail, status])
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    }
  }
  expect((await api.ask('POST', `${path}/nobody/edit`, '{')).status).toBe(404)
  expect((await api.ask('POST', `${path}/nobody/upgrade`, '{')).status).toBe(404)
  expect((await api.ask('PUT', '/api/v1beta/registry/nobody', '{')).status).toBe(404)
  expect((await api.ask('POST', `${path}/nobody/edit`, { url: 'http://a' })).status).toBe(404)
  expect((await api.ask('GET', `${path}?group=nowhere`)).status).toBe(404)
  expect((await api.ask('GET', `${path}?group=NO`)).status).toBe(400)
})

test('bulk operations take names or a group, and nothing begins when one name is wrong', async () => {
  const api = await startApi()
  const url = await startTinyMcp()
  await api.ask('POST', '/api/v1beta/groups', { name: 'team' })
  for (const name of ['a', 'b']) await api.ask('POST', path, { name, url, group: 'team' })
  await api.untilStatus('a', 'running')
  await api.untilStatus('b', 'running')
  const bulk = async (verb: string, body: unknown) => (await api.ask('POST', `${path}/${verb}`, body)).status

  for (const verb of ['stop', 'restart', 'delete']) {
    expect(await bulk(verb, {})).toBe(400)
    expect(await bulk(verb, { names: [] })).toBe(400)
    expect(await bulk(verb, { names: ['a'], group: 'team' })).toBe(400)
    expect(await bulk(verb, { group: 'nowhere' })).toBe(400)
    expect(await bulk(verb, { names: ['a', '../b'] })).toBe(400)
    expect(await bulk(verb, { names: ['nobody'] })).toBe(202)
  }
  expect((await api.ask('GET', `${path}?group=team`)).json()).toMatchObject({
    workloads: [{ name: 'a' }, { name: 'b' }],
  })

  expect(await bulk('stop', { group: 'team' })).toBe(202)
  await api.untilStatus('a', 'stopped')
  await api.untilStatus('b', 'stopped')
  expect(await bulk('restart', { names: ['a'] })).toBe(202)
  await api.untilStatus('a', 'running')
  expect(await bulk('delete', { group: 'team' })).toBe(202)
  await expect.poll(async () => (await api.ask('GET', `${path}?all=true`)).text).toBe('{"workloads":[]}\n')
})

test('of two that make the same workload at a time one gets 409', async () => {
  const api = await startApi()
  const url = await startTinyMcp()

  const answers = await Promise.all([1, 2, 3].map(() => api.ask('POST', path, { name: 'a', url })))

  expect(answers.map(answer => answer.status).sort()).toEqual([201, 409, 409])
})

test('a stored run config that cannot be read is 500 without details', async () => {
  const api = await startApi()
  const url = await startTinyMcp()
  await api.ask('POST', path, { name: 'a', url })
  await api.untilStatus('a', 'running')
  const file = join(api.user.home, '.local/state/keelson/runconfigs/a.json')
  await rm(file)
  await writeFile(file, '{ "name": "sesame')

  const answer = await api.ask('GET', `${path}/a/export`)

  expect([answer.status, answer.text]).toEqual([500, 'Internal Server Error\n'])
})
