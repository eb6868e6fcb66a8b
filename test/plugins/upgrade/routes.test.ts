import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ApiServer, startApi } from '../../support/api-server.ts'
import { keelsonUser } from '../../support/keelson.ts'

const path = '/api/v1beta/workloads'
const SERVERS = {
  clock: {
    description: 'a clock',
    image: 'registry.invalid/acme/clock:2.0.0',
    transport: 'streamable-http',
    env_vars: [
      { name: 'ZONE', required: true },
      { name: 'TOKEN', secret: true },
    ],
  },
}

/** A server with a catalogue and saved workloads, none of which runs. */
async function api(configs: Record<string, object | string>): Promise<ApiServer> {
  const user = await keelsonUser()
  const registry = join(user.home, 'registry.json')
  await writeFile(registry, JSON.stringify({ version: '1.0.0', servers: SERVERS }))
  await mkdir(join(user.home, '.config/keelson'), { recursive: true })
  const settings = JSON.stringify({ local_registry_path: registry })
  await writeFile(join(user.home, '.config/keelson/config.json'), settings)
  const folder = join(user.home, '.local/state/keelson/runconfigs')
  await mkdir(folder, { recursive: true })
  for (const [name, config] of Object.entries(configs)) {
    const common = { name, transport: 'streamable-http', port: 4000, runtime: 'process' }
    const text = typeof config === 'string' ? config : JSON.stringify({ ...common, ...config })
    await writeFile(join(folder, `${name}.json`), text)
  }
  return startApi({ user })
}

const clock = (tag: string, more: object = {}) => ({
  image: `registry.invalid/acme/clock:${tag}`,
  registry_server_name: 'io.github.stacklok/clock',
  registry_env_vars: [],
  ...more,
})

test('a check returns what the registry has, with all that would change', async () => {
  const server = await api({ old: clock('1.0.0', { env_vars: { ZONE: 'UTC' } }) })
  const answer = await server.ask('GET', `${path}/old/upgrade-check`)
  expect(answer.status).toBe(200)
  expect(answer.json()).toEqual({
    result: {
      workload_name: 'old',
      registry_server: 'io.github.stacklok/clock',
      status: 'upgrade-available',
      current_image: 'registry.invalid/acme/clock:1.0.0',
      candidate_image: 'registry.invalid/acme/clock:2.0.0',
      env_var_drift: { added: [{ name: 'TOKEN', required: false, secret: true }], removed: [] },
    },
  })
})

test('a check of all goes by name, and leaves out what cannot be read', async () => {
  const server = await api({ b: { image: 'own:1' }, a: clock('2.0.0'), broken: 'rubbish' })
  const statuses = async (query: string) => {
    const answer = await server.ask('GET', `${path}/upgrade-check${query}`)
    const { results } = answer.json() as { results: { workload_name: string; status: string }[] }
    return results.map(one => `${one.workload_name} ${one.status}`)
  }
  expect(await statuses('?all=true')).toEqual(['a up-to-date', 'b not-registry-sourced'])
  expect(await statuses('')).toEqual([])
})

test('an unknown name is 404, an invalid one 400', async () => {
  const server = await api({})
  for (const [method, rest, status, text] of [
    ['GET', 'nobody/upgrade-check', 404, 'There is no workload "nobody"'],
    ['POST', 'nobody/upgrade', 404, 'There is no workload "nobody"'],
    ['GET', '..%2Fx/upgrade-check', 400, 'The parameter name is not valid: it must have this form'],
    ['POST', 'a%20b/upgrade', 400, 'The parameter name is not valid: it must have this form'],
    ['GET', 'upgrade-check?group=nobody', 404, 'group "nobody"'],
  ] as const) {
    const answer = await server.ask(method, `${path}/${rest}`)
    expect(answer.status, rest).toBe(status)
    expect(answer.text).toContain(text)
  }
})

test('an upgrade that is asked for wrongly is 400, one that lacks a variable 422, and neither shows a value', async () => {
  const server = await api({ old: clock('1.0.0') })
  for (const body of [
    '"rubbish',
    { env: ['A=planted'] },
    { env: { 'A=planted': 'c' } },
    { unknown: 'planted' },
    { env: { TOKEN: 'planted' } },
    { secrets: ['A=planted'], env: { ZONE: 'UTC' } },
  ]) {
    const answer = await server.ask('POST', `${path}/old/upgrade`, body)
    expect(answer.status, `${JSON.stringify(body)}: ${answer.text}`).toBe(400)
    expect(answer.text).not.toContain('planted')
  }
  const lacking = await server.ask('POST', `${path}/old/upgrade`, { env: {} })
  expect(lacking.status).toBe(422)
  expect(lacking.json()).toMatchObject({ missing: [{ name: 'ZONE', secret: false }] })
})

test('an upgrade that there is nothing for changes nothing, and says what was found', async () => {
  const server = await api({ same: clock('2.0.0'), own: { image: 'own:1' } })
  for (const [name, status] of [
    ['same', 'up-to-date'],
    ['own', 'not-registry-sourced'],
  ]) {
    const answer = await server.ask('POST', `${path}/${name}/upgrade`)
    expect(answer.status).toBe(200)
    expect(answer.json()).toMatchObject({ result: { workload_name: name, status } })
  }
})

test('an upgrade that fails before anything runs gets 422, and nothing has changed', async () => {
  const server = await api({ old: clock('1.0.0', { runtime: 'docker' }) })
  const before = (await server.ask('GET', `${path}/old/export`)).text
  const answer = await server.ask('POST', `${path}/old/upgrade`, { env: { ZONE: 'UTC' } })
  expect(answer.status).toBe(422)
  expect(answer.text).toContain('it stays at registry.invalid/acme/clock:1.0.0')
  expect((await server.ask('GET', `${path}/old/export`)).text).toBe(before)
})
