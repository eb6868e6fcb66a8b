import { expect, test } from 'vitest'
import { isolationOf, settleIsolation } from '../../../plugins/egress/network-isolation.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { IsolationProbe, Runtime } from '../../../src/contracts/runtime.ts'
import { createFakeRuntime } from '../../support/fake-runtime.ts'

const base: RunConfig = {
  schema_version: 'v0.1.0',
  name: 'x',
  transport: 'stdio',
  port: 0,
  isolate_network: true,
}

async function settle(
  probe: IsolationProbe | undefined,
  { config = {}, isExplicit = false }: { config?: Partial<RunConfig>; isExplicit?: boolean } = {},
) {
  const warnings: string[] = []
  const fake = createFakeRuntime({ programs: {} })
  const isolation: Runtime['isolation'] = probe && {
    probe: async () => probe,
    prepare: () => Promise.reject(new Error('not here')),
    activate: async () => undefined,
    remove: async () => undefined,
    list: async () => [],
  }
  const runtime: Runtime = { ...fake, ...(isolation ? { isolation } : {}) }
  const settled = await settleIsolation(
    { ...base, ...config },
    { runtime, isExplicit, warn: text => warnings.push(text) },
  )
  return { isolated: settled.isolate_network, warnings }
}

const cannot = (fallback: boolean): IsolationProbe => ({
  ok: false,
  problem: 'there is no sandbox.',
  hint: 'Install one.',
  fallback,
})

test('a runtime that can isolate does, and says what is missing', async () => {
  expect(await settle({ ok: true, warnings: [] })).toEqual({ isolated: true, warnings: [] })
  expect(await settle({ ok: true, warnings: ['services stay reachable'] })).toEqual({
    isolated: true,
    warnings: ['Services stay reachable'],
  })
})

test('isolation by default is left out with a warning, where the runtime allows that', async () => {
  const { isolated, warnings } = await settle(cannot(true))
  expect(isolated).toBe(false)
  expect(warnings).toEqual(['The network of the server is not isolated: there is no sandbox.'])
})

test.each([
  ['the flag', { isExplicit: true }],
  ['a profile', { config: { permission_profile_name_or_path: 'none' } }],
])('what was asked for by %s is refused instead', async (_, options) => {
  await expect(settle(cannot(true), options)).rejects.toMatchObject({
    code: 'isolation_unsupported',
    hint: 'Install one.',
  })
})

test('an engine that should be able to isolate never runs without isolation', async () => {
  await expect(settle(cannot(false))).rejects.toMatchObject({ code: 'isolation_unsupported' })
})

test('a runtime that knows nothing of isolation counts as one that cannot', async () => {
  expect((await settle(undefined)).isolated).toBe(false)
  await expect(settle(undefined, { isExplicit: true })).rejects.toMatchObject({
    code: 'isolation_unsupported',
  })
})

test.each([
  ['has no means to', {}, {}],
  ['runs it without a sandbox', { isolation: {} as Runtime['isolation'] }, { no_sandbox: true }],
])('at a start, isolation is refused when the runtime %s', (_why, means, config) => {
  const runtime = { ...createFakeRuntime({ programs: {} }), ...means } as Runtime
  const refused = expect.objectContaining({ code: 'isolation_unsupported' })
  expect(() => isolationOf({ ...base, ...config }, runtime)).toThrow(refused)
  expect(isolationOf({ ...base, ...config, isolate_network: false }, runtime)).toBeUndefined()
})

test('a network mode of the target turns it off, with a warning unless there is no network', async () => {
  const can: IsolationProbe = { ok: true, warnings: [] }
  const mode = (mode: string) => ({ config: { permission_profile: { network: { mode } } } })
  expect(await settle(can, mode('none'))).toEqual({ isolated: false, warnings: [] })
  const host = await settle(can, mode('host'))
  expect(host.isolated).toBe(false)
  expect(host.warnings).toHaveLength(1)
  expect((await settle(can, mode('bridge'))).isolated).toBe(true)
})

test('without isolation the runtime is not probed', async () => {
  expect(await settle(cannot(false), { config: { isolate_network: false } })).toEqual({
    isolated: false,
    warnings: [],
  })
})
