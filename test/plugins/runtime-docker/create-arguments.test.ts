import { expect, test } from 'vitest'
import { createArguments } from '../../../plugins/runtime-docker/create-arguments.ts'
import { dockerDialect } from '../../../plugins/runtime-docker/docker-dialect.ts'
import { podmanDialect } from '../../../plugins/runtime-podman/podman-dialect.ts'
import type { InstanceSpec } from '../../../src/contracts/runtime.ts'
import { instanceSpec } from '../../support/instance-spec.ts'

const plain = instanceSpec({ name: 'one', image: 'some/image:1' })
const able = { memory: true, cores: 8, pids: true, logOptions: [] }

const make = (
  spec: Partial<InstanceSpec>,
  abilities: Parameters<typeof createArguments>[1]['abilities'] = able,
) =>
  createArguments(
    { ...plain, ...spec },
    { dialect: dockerDialect, abilities, owner: 'me', inherited: [], envFile: undefined, init: true },
  )

test('every instance is confined', () => {
  const args = make({})
  expect(args).toEqual(
    expect.arrayContaining(['--cap-drop=ALL', '--security-opt=no-new-privileges', '--init', '--pull=never']),
  )
  expect(args).not.toContain('--privileged')
  expect(args).not.toContain('--tty')
})

test('privileged only when asked for', () => {
  expect(make({ privileged: true })).toContain('--privileged')
})

test('without requested limits the defaults apply', () => {
  expect(make({})).toEqual(
    expect.arrayContaining([
      '--memory=2147483648',
      '--memory-swap=2147483648',
      '--cpus=2',
      '--pids-limit=512',
    ]),
  )
})

test('a small machine gives all its cores, not more', () => {
  expect(make({}, { ...able, cores: 1 })).toContain('--cpus=1')
})

test('defaults that the engine cannot enforce are left out, requested limits are not', () => {
  const unable = { memory: false, pids: false, logOptions: [] }
  expect(make({}, unable).filter(arg => /memory|cpus|pids/.test(arg))).toEqual([])
  expect(make({ limits: { memory: 1000, cpus: 0.5, pids: 7 } }, unable)).toEqual(
    expect.arrayContaining(['--memory=1000', '--cpus=0.5', '--pids-limit=7']),
  )
})

test('words behind the image cannot become options of the engine', () => {
  const args = make({ image: '--privileged', args: ['--privileged', '--'] })
  expect(args.slice(args.indexOf('--'))).toEqual(['--', '--privileged', '--privileged', '--'])
})

test("a caller's labels do not replace the owner's", () => {
  const args = make({ labels: { 'keelson-owner': 'somebody', keelson: 'false', colour: 'green' } })
  expect(args.filter(arg => arg.startsWith('--label=')).sort()).toEqual([
    '--label=colour=green',
    '--label=keelson-name=one',
    '--label=keelson-owner=me',
    '--label=keelson=true',
  ])
})

test('ports are published on their address', () => {
  const args = make({
    ports: [
      { instancePort: 80, address: '127.0.0.1' },
      { instancePort: 81, address: '::1', hostPort: 8081 },
    ],
  })
  expect(args).toEqual(expect.arrayContaining(['--publish=127.0.0.1::80/tcp', '--publish=[::1]:8081:81/tcp']))
})

test('paths with commas and quotes stay one path', () => {
  const args = make({ mounts: [{ source: '/a,b"c', target: '/t', readOnly: true }] })
  expect(args).toContain('--mount=type=bind,"source=/a,b""c",target=/t,readonly')
})

test('podman does not hand our proxy settings to the instance', () => {
  const args = createArguments(plain, {
    dialect: podmanDialect,
    abilities: able,
    owner: 'me',
    inherited: [],
    envFile: undefined,
    init: false,
  })
  expect(args).toContain('--http-proxy=false')
  expect(args).not.toContain('--init')
})
