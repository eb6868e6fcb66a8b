import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { mergeResolved } from '../../../plugins/workloads/merge-resolved.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'

const asked = (more: Partial<RunConfig> = {}): RunConfig => ({
  schema_version: 'v0.1.0',
  name: 'w',
  transport: 'streamable-http',
  port: 0,
  ...more,
})
const NARROW = { read: ['/data'], network: { outbound: { allow_host: ['api.example'] } } }
const WIDE = { name: 'network', network: { mode: 'host', outbound: { insecure_allow_all: true } } }

test('a variable of the user hides the one of that name only', async () => {
  const config = await mergeResolved({ env_vars: { A: '1', B: '1' } }, asked({ env_vars: { B: '2' } }), {
    given: new Set(),
  })

  expect(config.env_vars).toEqual({ A: '1', B: '2' })
})

test('--network changes the network of a narrow profile and widens nothing', async () => {
  const config = await mergeResolved({ permission_profile: NARROW }, asked({ permission_profile: WIDE }), {
    given: new Set(['network']),
  })

  expect(config.permission_profile).toEqual({
    read: ['/data'],
    network: { mode: 'host', outbound: { allow_host: ['api.example'] } },
  })
})

test('--permission-profile replaces the profile of the target', async () => {
  const config = await mergeResolved({ permission_profile: NARROW }, asked({ permission_profile: WIDE }), {
    given: new Set(['permission-profile', 'network']),
  })

  expect(config.permission_profile).toEqual(WIDE)
})

test('arguments behind -- replace those of the target', async () => {
  expect((await mergeResolved({ cmd_args: ['a'] }, asked(), { given: new Set() })).cmd_args).toEqual(['a'])
  expect(
    (await mergeResolved({ cmd_args: ['a'] }, asked({ cmd_args: ['b'] }), { given: new Set() })).cmd_args,
  ).toEqual(['b'])
})

test('secrets of both are given', async () => {
  const config = await mergeResolved({ secrets: ['a,target=A'] }, asked({ secrets: ['b,target=B'] }), {
    given: new Set(),
  })

  expect(config.secrets).toEqual(['a,target=A', 'b,target=B'])
})

test('a preferred port is taken if it is free and the user wants no other', async () => {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const busy = (server.address() as { port: number }).port

  expect((await mergeResolved({ port: busy }, asked(), { given: new Set() })).port).toBe(0)
  expect((await mergeResolved({ port: busy }, asked({ port: 4321 }), { given: new Set() })).port).toBe(4321)
  await new Promise(resolve => server.close(resolve))
  expect((await mergeResolved({ port: busy }, asked(), { given: new Set() })).port).toBe(busy)
})
