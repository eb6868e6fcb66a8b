import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { UpgradeCheck } from '../../../plugins/upgrade/index.ts'
import { type KeelsonUser, keelsonUser } from '../../support/keelson.ts'

const IMAGE = 'example/time'
const profile = (host: string) => ({ network: { outbound: { allow_host: [host] } } })

const SERVERS = {
  time: {
    description: 'Tells the time',
    image: `${IMAGE}:2.0.0`,
    transport: 'streamable-http',
    permissions: profile('new.example'),
    env_vars: [
      { name: 'ZONE', description: 'Where', required: true, default: 'UTC' },
      { name: 'TOKEN', description: 'Who', required: true, secret: true, default: 'never-shown' },
      { name: 'KEPT' },
      { name: 'HIDDEN', secret: true },
    ],
  },
  named: { description: 'A profile with a name', image: 'example/named:2', permissions: { name: 'wide' } },
}
const REMOTES = { far: { description: 'Elsewhere', url: 'https://far.example/mcp', transport: 'sse' } }

/** A user with a registry file and saved run configs; nothing runs and no engine is asked. */
async function userWith(configs: Record<string, object | string>): Promise<KeelsonUser> {
  const user = await keelsonUser()
  const registry = join(user.home, 'registry.json')
  await writeFile(registry, JSON.stringify({ version: '1.0.0', servers: SERVERS, remote_servers: REMOTES }))
  await mkdir(join(user.home, '.config/keelson'), { recursive: true })
  await writeFile(
    join(user.home, '.config/keelson/config.json'),
    JSON.stringify({ local_registry_path: registry }),
  )
  const folder = join(user.home, '.local/state/keelson/runconfigs')
  await mkdir(folder, { recursive: true })
  for (const [name, config] of Object.entries(configs)) {
    const whole =
      typeof config === 'string'
        ? config
        : JSON.stringify({ name, transport: 'stdio', port: 4000, ...config })
    await writeFile(join(folder, `${name}.json`), whole)
  }
  return user
}

const from = (server: string, image: string, more: object = {}) => ({
  registry_server_name: server,
  registry_env_vars: [],
  image,
  ...more,
})

async function check(config: object): Promise<UpgradeCheck> {
  const user = await userWith({ w: config })
  const shown = await user.run(['upgrade', 'check', 'w', '--format', 'json'])
  expect(shown).toMatchObject({ code: 0 })
  const [first, ...more]: UpgradeCheck[] = JSON.parse(shown.stdout)
  expect(more).toEqual([])
  if (!first) throw new Error('nothing was found')
  return first
}

test('a workload that is not an entry of a registry is not registry-sourced', async () => {
  expect(await check({ image: 'example/own:1' })).toEqual({
    workload_name: 'w',
    status: 'not-registry-sourced',
    current_image: 'example/own:1',
  })
})

test('an entry that is gone is server-not-found, with a hint where another registry is in use', async () => {
  expect(await check(from('gone', 'example/gone:1'))).toEqual({
    workload_name: 'w',
    registry_server: 'gone',
    status: 'server-not-found',
    current_image: 'example/gone:1',
  })
  const elsewhere = { registry_url: 'https://old.example/registry.json' }
  expect(await check(from('gone', 'example/gone:1', elsewhere))).toMatchObject({
    status: 'server-not-found',
    reason: 'it came from another registry, https://old.example/registry.json',
  })
})

test('a registry that cannot be read makes the status unknown, and details stay in the log', async () => {
  const user = await userWith({ w: from('time', `${IMAGE}:1.0.0`) })
  await writeFile(join(user.home, 'registry.json'), 'rubbish')

  const shown = await user.run(['upgrade', 'check', '--format', 'json'])

  expect(shown.code).toBe(0)
  expect(JSON.parse(shown.stdout)).toEqual([
    {
      workload_name: 'w',
      registry_server: 'time',
      status: 'unknown',
      current_image: `${IMAGE}:1.0.0`,
      reason: 'registry lookup failed',
    },
  ])
  expect(shown.stderr).toContain('registry.json')
})

test('an entry that is not an image is unknown', async () => {
  const remote = { registry_server_name: 'far', remote_url: 'https://far.example/mcp', transport: 'sse' }
  expect(await check(remote)).toEqual({
    workload_name: 'w',
    registry_server: 'far',
    status: 'unknown',
    reason: 'the registry entry is not an image',
  })
})

test('references that say too little are unknown, with the reason', async () => {
  expect(await check(from('time', `${IMAGE}:latest`))).toMatchObject({
    status: 'unknown',
    candidate_image: `${IMAGE}:2.0.0`,
    reason: 'the current tag is latest, which says nothing about its version',
  })
})

test.each(['2.0.0', 'v2', '3.0.0'])('tag %s is up to date, without drift', async tag => {
  expect(await check(from('time', `${IMAGE}:${tag}`))).toEqual({
    workload_name: 'w',
    registry_server: 'time',
    status: 'up-to-date',
    current_image: `${IMAGE}:${tag}`,
    candidate_image: `${IMAGE}:2.0.0`,
  })
})

test('an upgrade shows what comes, what goes and what changes, and no value of a secret', async () => {
  const config = from('time', `${IMAGE}@sha256:${'a'.repeat(64)}`, {
    source: `${IMAGE}:1.0.0`,
    registry_env_vars: ['KEPT', 'OLD', 'OLD_SECRET', 'NEVER_GIVEN'],
    env_vars: { KEPT: '1', OLD: '2', OWN: '3' },
    secrets: ['s,target=OLD_SECRET', 's,target=HIDDEN'],
    permission_profile: profile('old.example'),
  })

  expect(await check(config)).toEqual({
    workload_name: 'w',
    registry_server: 'time',
    status: 'upgrade-available',
    current_image: `${IMAGE}:1.0.0`,
    candidate_image: `${IMAGE}:2.0.0`,
    env_var_drift: {
      added: [
        { name: 'ZONE', description: 'Where', required: true, default: 'UTC' },
        { name: 'TOKEN', description: 'Who', required: true, secret: true },
      ],
      removed: [
        { name: 'OLD', required: false },
        { name: 'OLD_SECRET', required: false, secret: true },
      ],
    },
    config_drift: {
      transport: { from: 'stdio', to: 'streamable-http' },
      permission_profile: { from: 'reach old.example', to: 'reach new.example' },
    },
  })
})

test('a variable of --env-file-dir is not new', async () => {
  const user = await userWith({})
  const folder = join(user.home, 'values')
  await mkdir(folder)
  await writeFile(join(folder, 'values.env'), 'ZONE=CET\nTOKEN=t\nKEPT=k\nHIDDEN=h\n')
  const saved = { name: 'w', transport: 'streamable-http', ...from('time', `${IMAGE}:1`) }
  await writeFile(
    join(user.home, '.local/state/keelson/runconfigs/w.json'),
    JSON.stringify({ ...saved, env_file_dir: folder }),
  )

  const [found] = JSON.parse((await user.run(['upgrade', 'check', 'w', '--format', 'json'])).stdout)

  expect(found).not.toHaveProperty('env_var_drift')
  expect(found).toMatchObject({ status: 'upgrade-available' })
})

test('of a run config that does not say what its entry listed, all unknown variables count as removed', async () => {
  const { registry_env_vars: _, ...config } = from('time', `${IMAGE}:1`, {
    env_vars: { KEPT: '1', OWN: '3' },
  })

  const { env_var_drift } = await check(config)

  expect(env_var_drift?.removed).toEqual([{ name: 'OWN', required: false }])
})

test('profiles with names are compared by name', async () => {
  const config = (name: string) => from('named', 'example/named:1', { permission_profile_name_or_path: name })
  expect((await check(config('narrow'))).config_drift?.permission_profile).toEqual({
    from: 'narrow',
    to: 'wide',
  })
  expect(await check(config('wide'))).not.toHaveProperty('config_drift')
})

test('--network of the user does not count as drift', async () => {
  const permission_profile = { network: { mode: 'none', ...profile('new.example').network } }
  const config = from('time', `${IMAGE}:1`, { transport: 'streamable-http', permission_profile })
  expect(await check(config)).not.toHaveProperty('config_drift')
})

test('all workloads are listed by name, those that do not run too, without what cannot be read', async () => {
  const user = await userWith({
    b: from('time', `${IMAGE}:1.0.0`, { env_vars: { ZONE: 'CET' } }),
    a: { image: 'example/own:1' },
    broken: '{',
  })

  const text = await user.run(['upgrade', 'check'])
  const json = await user.run(['upgrade', 'check', '--format', 'json'])

  expect(text.code).toBe(0)
  expect(text.stdout.split('\n').map(line => line.split(/ {2,}/))).toEqual([
    ['NAME', 'STATUS', 'CURRENT', 'CANDIDATE', 'NEW-ENV', 'POSTURE'],
    ['a', 'not-registry-sourced', 'example/own:1', '-', '-', '-'],
    ['b', 'upgrade-available', `${IMAGE}:1.0.0`, `${IMAGE}:2.0.0`, '3', 'drift'],
    [''],
  ])
  expect(JSON.parse(json.stdout).map((one: UpgradeCheck) => one.workload_name)).toEqual(['a', 'b'])
})

test('one workload is described in lines', async () => {
  const user = await userWith({ w: from('time', `${IMAGE}:1.0.0`, { env_vars: { KEPT: '1' } }) })

  expect((await user.run(['upgrade', 'check', 'w'])).stdout).toBe(`Workload:  w
Status:    upgrade-available
Registry:  time
Current:   ${IMAGE}:1.0.0
Candidate: ${IMAGE}:2.0.0
New variables:
  ZONE (required): Where
  TOKEN (required, secret): Who
  HIDDEN (secret)
Posture:
  transport: stdio -> streamable-http
`)
})

test('nothing there is an empty array, and no failure', async () => {
  const user = await userWith({})
  expect(await user.run(['upgrade', 'check', '--format', 'json'])).toMatchObject({ code: 0, stdout: '[]\n' })
  expect(await user.run(['upgrade', 'check'])).toMatchObject({ code: 0, stdout: 'There are no workloads.\n' })
})

test('an unknown workload fails', async () => {
  const user = await userWith({})
  const shown = await user.run(['upgrade', 'check', 'nobody'])
  expect(shown).toMatchObject({ code: 1, stdout: '' })
  expect(shown.stderr).toContain('There is no workload "nobody".')
})

test('an unknown format is wrong usage', async () => {
  const user = await userWith({})
  expect(await user.run(['upgrade', 'check', '--format', 'xml'])).toMatchObject({ code: 2 })
})

test('list --check-upgrades adds a column and a member', async () => {
  const user = await userWith({
    a: from('time', `${IMAGE}:1.0.0`),
    b: from('time', `${IMAGE}:latest`),
    c: from('time', `${IMAGE}:2.0.0`),
  })

  const text = await user.run(['list', '--all', '--check-upgrades'])
  const json = await user.run(['list', '--all', '--check-upgrades', '--format', 'json'])

  expect(text.stdout.split('\n').map(line => line.split(/ {2,}/).at(-1))).toEqual([
    'UPGRADE',
    'upgrade-available',
    '-',
    'up-to-date',
    '',
  ])
  expect(JSON.parse(json.stdout)[0]).toMatchObject({
    name: 'a',
    upgrade: { workload_name: 'a', status: 'upgrade-available', candidate_image: `${IMAGE}:2.0.0` },
  })
  expect((await user.run(['list', '--all'])).stdout).not.toContain('UPGRADE')
})

test('list --check-upgrades does not go with mcpservers', async () => {
  const user = await userWith({})
  const shown = await user.run(['list', '--check-upgrades', '--format', 'mcpservers'])
  expect(shown).toMatchObject({ code: 2, stdout: '' })
  expect(shown.stderr).toContain('--check-upgrades')
})
