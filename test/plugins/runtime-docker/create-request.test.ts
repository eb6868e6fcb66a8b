import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createContainerRuntime, ownerOf } from '../../../plugins/runtime-docker/container-runtime.ts'
import { createArguments } from '../../../plugins/runtime-docker/create-arguments.ts'
import { toCreateRequest } from '../../../plugins/runtime-docker/create-request.ts'
import { dockerDialect } from '../../../plugins/runtime-docker/docker-dialect.ts'
import type { InstanceSpec } from '../../../src/contracts/runtime.ts'
import { engineProblem } from '../../support/engine-problem.ts'
import { instanceSpec } from '../../support/instance-spec.ts'
import { allNeed } from '../../support/left-out.ts'

const IMAGE = 'keelson-test/busybox:1'

const SPECS: Readonly<Record<string, Partial<InstanceSpec>>> = {
  plain: {},
  stdio: { stdio: true, args: ['sh', '-c', 'a "quoted" word', '--privileged'] },
  variables: { env: { PLAIN: 'a=b', LINES: 'one two', EMPTY: '', MULTI_LINE: 'one\ntwo' } },
  ports: {
    ports: [
      { instancePort: 80, address: '127.0.0.1', hostPort: 0 },
      { instancePort: 80, address: '::1' },
      { instancePort: 81, address: '127.0.0.1', hostPort: 12_081 },
    ],
  },
  mounts: {
    mounts: [
      { source: '/tmp', target: '/in', readOnly: true },
      { source: '/tmp', target: '/out=put', readOnly: false },
    ],
    hidden: [
      { target: '/in/folder', directory: true },
      { target: '/in/file', directory: false },
    ],
  },
  'a path that the arguments quote': { mounts: [{ source: '/tmp', target: '/a,b', readOnly: true }] },
  limits: { limits: { memory: 64 * 1024 * 1024, cpus: 0.25, pids: 7 } },
  'no network': { network: 'none' },
  'the network of the host': { network: 'host' },
  'started again by the engine': { restart: 'unless-stopped' },
  privileged: { privileged: true },
  labels: { labels: { 'a.b': 'c=d', empty: '' } },
}

type Mount = { Destination: string }

/** The program sends empty lists for what was not asked for. */
const withoutEmpty = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0 ? null : value

describe('a container made over the socket', { timeout: 60_000 }, () => {
  allNeed(engineProblem('docker', IMAGE))
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keelson-create-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const runtimeWith = (dialect: typeof dockerDialect, env = { ...process.env }) =>
    createContainerRuntime({ dialect, owner: ownerOf(folder), env, folder })

  /** What the engine says of a container made in one of the ways, without what differs between any two. */
  async function make(way: 'socket' | 'program', spec: Partial<InstanceSpec>) {
    const dialect = way === 'socket' ? dockerDialect : { ...dockerDialect, socket: () => undefined }
    const runtime = runtimeWith(dialect)
    const isolation = runtime.isolation
    const name = `kt-${randomBytes(5).toString('hex')}`
    onTestFinished(async () => {
      await runtime.remove(name)
      await isolation?.remove(name)
    })
    const isolatedNetwork = spec.isolatedNetwork && (await isolation?.prepare(name, { workload: 'one' }))
    await runtime.create(instanceSpec({ name, image: IMAGE, args: ['sleep', '1'], ...spec, isolatedNetwork }))
    const { stdout } = await execa('docker', ['container', 'inspect', name])
    const found = stdout
      .replaceAll(isolatedNetwork?.proxyUrl.replace(/^http:\/\/|:\d+$/g, '') || 'nothing', 'GATEWAY')
      .replaceAll(isolatedNetwork?.peer ?? 'nothing', 'PEER')
      .replaceAll(name, 'NAME')
    const [{ Config, HostConfig, NetworkSettings, Mounts }] = JSON.parse(found, withoutEmpty)
    Config.Env.sort()
    Mounts?.sort((a: Mount, b: Mount) => (a.Destination < b.Destination ? -1 : 1))
    return { ...{ ...Config, Hostname: '' }, HostConfig, Mounts, networks: NetworkSettings.Networks }
  }

  test.each([...Object.entries(SPECS), ['isolated', { isolatedNetwork: {} as never }]] as const)(
    'is the one that the program makes: %s',
    async (_title, spec) => {
      const bySocket = await make('socket', spec)
      expect(bySocket.HostConfig.CapDrop).toEqual(['ALL'])
      expect(bySocket).toEqual(await make('program', spec))
    },
  )

  test('needs no program', async () => {
    const noted = join(folder, 'calls')
    const bin = join(folder, 'bin')
    await mkdir(bin)
    const script = `#!/bin/sh\necho "$1" >> ${noted}\nPATH=${process.env.PATH} exec docker "$@"\n`
    await writeFile(join(bin, 'docker'), script, { mode: 0o755 })
    await writeFile(noted, '')
    const runtime = runtimeWith(dockerDialect, { ...process.env, PATH: `${bin}:${process.env.PATH}` })
    const name = `kt-${randomBytes(5).toString('hex')}`
    expect(await runtime.images?.has(IMAGE)).toBe(true)
    await runtime.create(instanceSpec({ name, image: IMAGE, args: ['sleep', '3600'] }))
    await runtime.start(name)
    expect((await runtime.inspect(name))?.state).toBe('running')
    await runtime.stop(name, { graceSeconds: 0 })
    await runtime.remove(name)
    expect(await runtime.inspect(name)).toBeUndefined()
    const { stdout } = await execa('cat', [noted])
    expect(stdout).toBe('info')
  })
})

describe('what only the program knows how to make', () => {
  const argumentsOf = (spec: Partial<InstanceSpec>) =>
    createArguments(instanceSpec({ name: 'one', image: IMAGE, ...spec }), {
      dialect: dockerDialect,
      abilities: { memory: true, cores: 2, pids: true, logOptions: [] },
      ...{ owner: 'me', inherited: [], envFile: undefined, init: true },
    })
  const request = (args: readonly string[], env: Record<string, string> = { HOME: '/nowhere' }) =>
    toCreateRequest(args, { variables: {}, env })

  test('is not asked of the socket', () => {
    const plain = argumentsOf({})
    expect(request(plain)).toMatchObject({ body: { Image: IMAGE } })
    expect(request(['create', '--device=/dev/kvm', ...plain.slice(1)])).toBeUndefined()
    expect(request(['create', '--constructor=1', ...plain.slice(1)])).toBeUndefined()
    expect(request(['create', '-v', ...plain.slice(1)])).toBeUndefined()
    expect(request(['create', '--mount=type=bind,source=/a,target=/b,ro', ...plain.slice(1)])).toBeUndefined()
    expect(request(argumentsOf({ args: ['a\0b'] }))).toBeUndefined()
    expect(request(argumentsOf({ image: '' }))).toBeUndefined()
    expect(request(plain, { HOME: '/nowhere', DOCKER_CONTENT_TRUST: '1' })).toBeUndefined()
  })

  test.each([
    ['proxies for containers', '{"proxies": {"default": {"httpProxy": "http://proxy.example"}}}', false],
    ['a file that is no JSON', 'nonsense', false],
    ['a login', '{"auths": {}}', true],
  ])('is seen in the settings of the program: %s', async (_title, settings, isPlain) => {
    const folder = await mkdtemp(join(tmpdir(), 'keelson-settings-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await writeFile(join(folder, 'config.json'), settings)
    expect(request(argumentsOf({}), { DOCKER_CONFIG: folder }) !== undefined).toBe(isPlain)
  })
})
