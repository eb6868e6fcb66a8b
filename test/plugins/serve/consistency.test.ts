import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ApiServer, startApi } from '../../support/api-server.ts'
import { startTinyMcp } from '../../support/tiny-mcp.ts'

const path = '/api/v1beta/workloads'
const UNLIMITED = ['--port', '0', '--rate-limit', '0']

const listed = async (api: ApiServer) =>
  (
    (await api.ask('GET', `${path}?all=true`)).json() as {
      workloads: { name: string; status: string; port: number }[]
    }
  ).workloads

const filesOf = async (api: ApiServer, folder: string) =>
  (await readdir(join(api.user.home, folder))).filter(file => file.endsWith('.json')).sort()

const CONFIGS = '.local/state/keelson/runconfigs'
const STATUSES = '.local/share/keelson/statuses'

test('a hundred that are made, and half of them deleted, at a time leave fifty that run, and files of these alone', async () => {
  const api = await startApi({ args: UNLIMITED })
  const url = await startTinyMcp()
  const names = Array.from({ length: 100 }, (_, i) => `w${i}`)
  const kept = names.filter((_, i) => i % 2 === 0).sort()

  const made = await Promise.all(
    names.map(async name => {
      const answer = await api.ask('POST', path, { name, url })
      if (!kept.includes(name)) await api.ask('DELETE', `${path}/${name}`)
      return answer
    }),
  )

  expect(made.map(({ status }) => status)).toEqual(names.map(() => 201))
  expect(new Set(made.map(answer => (answer.json() as { port: number }).port)).size).toBe(100)
  await expect
    .poll(async () => (await listed(api)).map(({ name, status }) => `${name} ${status}`), { timeout: 60_000 })
    .toEqual(kept.map(name => `${name} running`))
  expect(await filesOf(api, CONFIGS)).toEqual(kept.map(name => `${name}.json`))
  expect(await filesOf(api, STATUSES)).toEqual(kept.map(name => `${name}.json`))
  expect(api.log()).not.toContain('"level":"ERROR"')
}, 120_000)

test('a server that is killed in the middle of a bulk delete loses nothing: each workload is whole or gone, and the next server finishes what it is asked', async () => {
  const api = await startApi({ args: UNLIMITED })
  const url = await startTinyMcp()
  const names = Array.from({ length: 40 }, (_, i) => `w${i}`)
  await Promise.all(names.map(name => api.ask('POST', path, { name, url })))
  await expect
    .poll(async () => (await listed(api)).filter(({ status }) => status === 'running').length, {
      timeout: 60_000,
    })
    .toBe(40)
  const doomed = names.slice(0, 30)
  const spared = names.slice(30).sort()

  expect((await api.ask('POST', `${path}/delete`, { names: doomed })).status).toBe(202)
  await expect
    .poll(async () => (await filesOf(api, CONFIGS)).length, { timeout: 20_000, interval: 1 })
    .toBeLessThan(40)
  api.process.kill('SIGKILL')
  await once(api.process, 'exit')

  const next = await startApi({ user: api.user, args: UNLIMITED })
  const left = await listed(next)
  expect(left.map(({ name }) => name)).toEqual(expect.arrayContaining(spared))
  for (const { name } of left) {
    const { status } = await next.ask('GET', `${path}/${name}`)
    // The next server goes on with a removal that had begun.
    expect(spared.includes(name) ? [200] : [200, 404], name).toContain(status)
  }
  await expect
    .poll(
      async () =>
        (await listed(next)).filter(({ name }) => spared.includes(name)).map(({ status }) => status),
      {
        timeout: 30_000,
      },
    )
    .toEqual(spared.map(() => 'running'))

  expect((await next.ask('POST', `${path}/delete`, { names: doomed })).status).toBe(202)
  await expect.poll(async () => (await listed(next)).map(({ name }) => name)).toEqual(spared)
  expect(await filesOf(next, CONFIGS)).toEqual(spared.map(name => `${name}.json`))
  await expect.poll(() => filesOf(next, STATUSES)).toEqual(spared.map(name => `${name}.json`))
}, 180_000)

test('the command line and the API change the same things at the same time, and no change is lost', async () => {
  const api = await startApi({ args: UNLIMITED })
  const url = await startTinyMcp()
  const groups = Array.from({ length: 10 }, (_, i) => i)

  const results = await Promise.all([
    ...groups.map(
      async i => (await api.ask('POST', '/api/v1beta/groups', { name: `api-${i}` })).status === 201,
    ),
    ...groups.slice(0, 4).map(async i => (await api.user.run(['group', 'create', `cli-${i}`])).code === 0),
    ...groups.map(async i => (await api.ask('POST', path, { name: `api-${i}`, url })).status === 201),
    ...groups.slice(0, 3).map(async i => (await api.user.run(['run', url, '--name', `cli-${i}`])).code === 0),
    ...['zed', 'cursor', 'kiro'].map(
      async name => (await api.ask('POST', '/api/v1beta/clients', { name })).status === 200,
    ),
    ...['goose', 'cline'].map(async name => (await api.user.run(['client', 'register', name])).code === 0),
  ])

  expect(results).toEqual(results.map(() => true))
  const found = (await api.ask('GET', '/api/v1beta/groups')).json() as {
    groups: { name: string; registered_clients: string[] }[]
  }
  const wanted = [
    ...groups.map(i => `api-${i}`),
    ...groups.slice(0, 4).map(i => `cli-${i}`),
    'default',
  ].sort()
  expect(found.groups.map(({ name }) => name)).toEqual(wanted)
  const clients = found.groups.find(({ name }) => name === 'default')?.registered_clients
  expect([...(clients ?? [])].sort()).toEqual(['cline', 'cursor', 'goose', 'kiro', 'zed'])
  const all = await listed(api)
  expect(all.map(({ name }) => name)).toEqual(
    [...groups.map(i => `api-${i}`), ...groups.slice(0, 3).map(i => `cli-${i}`)].sort(),
  )
  expect(new Set(all.map(({ port }) => port)).size).toBe(13)
  await expect
    .poll(async () => (await listed(api)).map(({ status }) => status))
    .toEqual(all.map(() => 'running'))
}, 120_000)
