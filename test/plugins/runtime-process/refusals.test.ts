import { describe, expect, test } from 'vitest'
import type { InstanceSpec } from '../../../src/contracts/runtime.ts'
import { isFailure } from '../../../src/errors.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { hostRuntime } from './host-runtime.ts'
import { shellInstance } from './shell-instance.ts'

const refusal = async (spec: InstanceSpec, sandbox = false) => {
  const runtime = hostRuntime(await temporaryFolder(), { sandbox })
  const thrown = await runtime.create(spec).then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(await runtime.list()).toEqual([])
  return isFailure(thrown) ? thrown : undefined
}

describe('without a sandbox', () => {
  test.each<[string, Partial<InstanceSpec>]>([
    ['a permission profile that was asked for', { explicitProfile: true }],
    ['mounts', { mounts: [{ source: '/tmp', target: '/data', readOnly: true }] }],
    ['no network', { network: 'none', stdio: true }],
    ['hidden files', { hidden: [{ target: '/data/.env', directory: false }] }],
    [
      'isolation',
      {
        isolatedNetwork: {
          proxyAddress: { path: '/nowhere/out' },
          proxyUrl: 'http://127.0.0.1:3128',
          gateways: [],
          warnings: [],
        },
      },
    ],
  ])('%s is refused with --no-sandbox, and the hint names an engine', async (_, given) => {
    const failure = await refusal(shellInstance('true', given))
    expect(failure?.code).toBe('process_refused')
    expect(failure?.hint).toMatch(/Omit --no-sandbox.*--runtime docker/)
  })

  test('it cannot isolate, and lets what does not insist run without', async () => {
    const runtime = hostRuntime(await temporaryFolder(), { sandbox: false })
    expect(await runtime.isolation?.probe()).toMatchObject({ ok: false, fallback: true })
    await expect(runtime.isolation?.prepare('w', { workload: 'w' })).rejects.toMatchObject({
      code: 'isolation_unsupported',
    })
    expect(await runtime.isolation?.list()).toEqual([])
  })

  test('nothing runs without --no-sandbox, which the hint names', async () => {
    const runtime = hostRuntime(await temporaryFolder(), { sandbox: false })
    const failure = await refusal(shellInstance('true', { noSandbox: false }))
    expect(failure?.code).toBe('sandbox_missing')
    expect(failure?.hint).toMatch(/Install bubblewrap.*--no-sandbox runs it anyway/)
    expect(await runtime.sandbox?.()).toMatchObject({
      ok: false,
      hint: expect.stringContaining('bubblewrap'),
    })
  })
})

describe('in any case', () => {
  test.each<[string, Partial<InstanceSpec>]>([
    ['privileges', { privileged: true }],
    ['a network of an engine', { network: 'my-network' }],
    ['another port on the host', { ports: [{ instancePort: 8000, hostPort: 9000, address: '127.0.0.1' }] }],
    ['a name that is a path', { name: '../elsewhere' }],
  ])('%s is refused', async (_, given) => {
    expect((await refusal(shellInstance('true', given)))?.code).toBe('process_refused')
  })

  test('a container image is refused, saying what runs here', async () => {
    const failure = await refusal(shellInstance('true', { image: 'docker.io/library/busybox' }))
    expect(failure?.code).toBe('process_not_installed')
    expect(failure?.hint).toContain('npx://')
  })
})
