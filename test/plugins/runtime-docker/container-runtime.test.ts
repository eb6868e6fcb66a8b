import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createContainerRuntime, ownerOf } from '../../../plugins/runtime-docker/container-runtime.ts'
import { dockerDialect } from '../../../plugins/runtime-docker/docker-dialect.ts'
import { podmanDialect } from '../../../plugins/runtime-podman/podman-dialect.ts'
import type { ImageStore, InstanceSpec, Runtime } from '../../../src/contracts/runtime.ts'
import { engineProblem } from '../../support/engine-problem.ts'
import { instanceSpec } from '../../support/instance-spec.ts'
import { allNeed } from '../../support/left-out.ts'

const IMAGE = 'keelson-test/busybox:1'
const unique = () => `kt-${randomBytes(5).toString('hex')}`

describe.each([
  ['docker', dockerDialect],
  ['podman', podmanDialect],
] as const)('on a real %s', { timeout: 60_000 }, (engine, dialect) => {
  const problem = engineProblem(engine, IMAGE)
  allNeed(problem)

  let folder: string
  let runtime: Runtime
  let images: ImageStore

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keelson-engine-'))
    runtime = createContainerRuntime({ dialect, owner: ownerOf(folder), env: { ...process.env }, folder })
    if (!runtime.images) throw new Error('a container runtime has images')
    images = runtime.images
  })
  afterAll(async () => {
    if (problem === undefined) expect(await runtime.list()).toEqual([])
    await rm(folder, { recursive: true, force: true })
  })

  const inspectRaw = async (name: string) => {
    const { stdout } = await execa(engine, ['container', 'inspect', name])
    return JSON.parse(stdout)[0]
  }

  async function make(spec: Partial<InstanceSpec> = {}): Promise<string> {
    const name = unique()
    onTestFinished(() => runtime.remove(name))
    await runtime.create(instanceSpec({ name, image: IMAGE, args: ['sleep', '3600'], ...spec }))
    return name
  }

  describe('instances', () => {
    test('are confined and limited without being asked', async () => {
      const name = await make()
      const { HostConfig, Config } = await inspectRaw(name)
      expect(HostConfig.Memory).toBe(2 * 1024 ** 3)
      expect(HostConfig.NanoCpus || (HostConfig.CpuQuota / HostConfig.CpuPeriod) * 1e9).toBe(2e9)
      expect(HostConfig.PidsLimit).toBe(512)
      expect(HostConfig.Privileged).toBe(false)
      expect(HostConfig.SecurityOpt).toEqual(
        expect.arrayContaining([
          expect.stringMatching('no-new-privileges'),
          expect.stringMatching(/label[=:]disable/),
        ]),
      )
      expect(JSON.stringify(HostConfig.LogConfig)).toContain(engine === 'docker' ? '10m' : '10')
      expect(Config.Tty).toBe(false)
    })

    test('hold no capability and may gain none', async () => {
      const name = await make({
        stdio: true,
        args: ['grep', '-E', 'CapEff|CapBnd|NoNewPrivs', '/proc/self/status'],
      })
      const { stdin, stdout } = await runtime.attach(name)
      stdin.end()
      const status = (await stdout.setEncoding('utf8').toArray()).join('')
      expect(status).toMatch(/CapEff:\s+0+\n/)
      expect(status).toMatch(/CapBnd:\s+0+\n/)
      expect(status).toMatch(/NoNewPrivs:\s+1\n/)
    })

    test('a container that somebody made by hand keeps its name and its life', async () => {
      const name = unique()
      await execa(engine, ['run', '--detach', `--name=${name}`, IMAGE, 'sleep', '3600'])
      onTestFinished(async () => void (await execa(engine, ['rm', '--force', name])))
      const spec = { name, args: ['sleep', '1'] }
      await expect(make(spec)).rejects.toMatchObject({ code: 'name_taken' })
      await runtime.stop(name)
      await runtime.remove(name)
      expect(await runtime.inspect(name)).toBeUndefined()
      await expect(runtime.start(name)).rejects.toMatchObject({ code: 'instance_missing' })
      expect((await inspectRaw(name)).State.Running).toBe(true)
    })

    test('the beginning of an id is no name', async () => {
      const name = await make()
      const id = (await runtime.inspect(name))?.id ?? ''
      expect(await runtime.inspect(id.slice(0, 12))).toBeUndefined()
      await runtime.remove(id.slice(0, 12))
      expect(await runtime.inspect(name)).toBeDefined()
    })

    test('a port that is in use is named, and nothing runs', async () => {
      const blocker = createTcpServer().listen(0, '127.0.0.1')
      await once(blocker, 'listening')
      onTestFinished(() => void blocker.close())
      const { port } = blocker.address() as AddressInfo
      const name = await make({ ports: [{ instancePort: 80, address: '127.0.0.1', hostPort: port }] })
      await expect(runtime.start(name)).rejects.toMatchObject({
        code: 'instance_port_busy',
        message: expect.stringContaining(String(port)),
      })
      expect((await runtime.inspect(name))?.state).not.toBe('running')
    })

    test('a program that is not in the image ends at once, and says so', async () => {
      const name = await make({ args: ['no-such-program'], stdio: true })
      const { exit, stderr } = await runtime.attach(name)
      expect((await stderr.setEncoding('utf8').toArray()).join('')).toContain('no-such-program')
      expect(await exit).toMatchObject({ code: 127 })
    })

    test('what keeps an instance from starting is told by start and attach, in the words of the engine', async () => {
      const mounts = [{ source: '/etc/hostname', target: '/proc/version', readOnly: true }]
      for (const stdio of [false, true]) {
        const name = await make({ mounts, stdio })
        await expect(stdio ? runtime.attach(name) : runtime.start(name)).rejects.toMatchObject({
          code: 'runtime_failed',
          message: expect.stringContaining('/proc/version'),
        })
        expect((await runtime.inspect(name))?.state).not.toBe('running')
      }
    })

    test('a network that is not there fails with its name', async () => {
      const attempt = make({ network: 'no-such-network' }).then(name => runtime.start(name))
      await expect(attempt).rejects.toMatchObject({
        code: 'runtime_failed',
        message: expect.stringContaining('no-such-network'),
      })
    })

    test('without a network there is none', async () => {
      const name = await make({ network: 'none', stdio: true, args: ['ls', '/sys/class/net'] })
      const { stdin, stdout } = await runtime.attach(name)
      stdin.end()
      expect((await stdout.setEncoding('utf8').toArray()).join('').trim().split(/\s+/)).not.toContain('eth0')
    })

    test.each(['', '-x', 'a b', 'a/b', '../x', 'ä'])('%j is refused as a name', async name => {
      await expect(make({ name })).rejects.toMatchObject({ name: 'Failure' })
    })

    test('a NUL character anywhere is refused', async () => {
      await expect(make({ args: ['a\0b'] })).rejects.toMatchObject({ code: 'runtime_failed' })
    })

    test('a limit that cannot be is refused by the engine, in its words', async () => {
      await expect(make({ limits: { memory: 1 } }).then(name => runtime.start(name))).rejects.toMatchObject({
        code: 'runtime_failed',
      })
    })
  })

  describe('images', () => {
    const context = async (): Promise<string> => {
      const path = await mkdtemp(join(folder, 'context-'))
      await writeFile(join(path, 'greeting'), 'hello from the context\n')
      return path
    }

    test('are built, found, labelled, run and removed', async () => {
      const tag = `${unique()}/built:1`
      onTestFinished(() => images.remove(tag))
      const lines: string[] = []
      await images.build(
        {
          tag,
          context: await context(),
          dockerfile: `FROM ${IMAGE}\nCOPY greeting /greeting\nRUN echo a step of the build\n`,
          labels: { colour: 'green = "bright"' },
        },
        { report: line => lines.push(line) },
      )
      expect(lines.join('\n')).toContain('a step of the build')
      expect(lines.join('\n')).not.toContain('DEPRECATED')
      expect(await images.has(tag)).toBe(true)
      expect(await images.labels(tag)).toMatchObject({ colour: 'green = "bright"' })

      const name = await make({ image: tag, args: ['cat', '/greeting'], stdio: true })
      const { stdin, stdout } = await runtime.attach(name)
      stdin.end()
      expect((await stdout.setEncoding('utf8').toArray()).join('')).toBe('hello from the context\n')

      await expect(images.remove(tag)).rejects.toMatchObject({ code: 'image_in_use' })
      await runtime.remove(name)
      await images.remove(tag)
      await images.remove(tag)
      expect(await images.has(tag)).toBe(false)
      expect(await images.labels(tag)).toBeUndefined()
    })

    test('a build that fails shows its last words and leaves no container', async () => {
      const tag = `${unique()}/failing:1`
      const attempt = images.build({
        tag,
        context: await context(),
        dockerfile: `FROM ${IMAGE}\nRUN for i in $(seq 30); do echo line $i; done; echo ${tag}; echo MY_API_KEY=hunter22hunter API_KEY=hunter22; exit 3\n`,
        labels: {},
      })
      const failure = await attempt.catch(error => error)
      expect(failure).toMatchObject({ code: 'build_failed', message: expect.stringContaining('line 30') })
      expect(failure.message).not.toContain('line 2\n')
      expect(failure.message).not.toContain('hunter22')
      expect(await images.has(tag)).toBe(false)
      const { stdout } = await execa(engine, ['ps', '--all', '--no-trunc', '--format={{.Command}}'])
      expect(stdout).not.toContain(tag)
    })

    test('a build with a broken Dockerfile or without its context fails', async () => {
      const build = { tag: `${unique()}/broken:1`, dockerfile: 'NONSENSE here\n', labels: {} }
      await expect(images.build({ ...build, context: await context() })).rejects.toMatchObject({
        code: 'build_failed',
      })
      const missing = { ...build, dockerfile: `FROM ${IMAGE}\n`, context: join(folder, 'missing') }
      await expect(images.build(missing)).rejects.toMatchObject({ code: 'build_failed' })
    })

    test('a build ends when the caller gives up', async () => {
      const stop = new AbortController()
      const tag = `${unique()}/endless:1`
      const attempt = images.build(
        { tag, context: await context(), dockerfile: `FROM ${IMAGE}\nRUN echo begun; sleep 5\n`, labels: {} },
        { signal: stop.signal, report: line => line.includes('begun') && stop.abort() },
      )
      await expect(attempt).rejects.toMatchObject({ name: 'AbortError' })
      expect(await images.has(tag)).toBe(false)
    })

    test('a pull that fails says which image and why', async () => {
      await expect(images.pull('127.0.0.1:9/no/such:1')).rejects.toMatchObject({
        code: 'image_registry_unreachable',
        message: expect.stringMatching(/127\.0\.0\.1:9\/no\/such:1.*127\.0\.0\.1:9 cannot be reached/),
      })
    })

    test('a pull ends when the caller gives up', async () => {
      const asked = Promise.withResolvers<void>()
      const registry = createServer(() => asked.resolve()) // never answers
      registry.on('clientError', () => asked.resolve()) // podman begins with TLS
      registry.listen(0, '127.0.0.1')
      await once(registry, 'listening')
      onTestFinished(() => {
        registry.closeAllConnections()
        registry.close()
      })
      const stop = new AbortController()
      const { port } = registry.address() as AddressInfo
      const attempt = images.pull(`127.0.0.1:${port}/slow:1`, { signal: stop.signal })
      await Promise.race([asked.promise, attempt.catch(() => undefined)])
      stop.abort()
      await expect(attempt).rejects.toMatchObject({ name: 'AbortError' })
    })

    test('a missing image is a value, and an error only for create', async () => {
      const nobody = 'keelson-test/no-such-image:1'
      expect(await images.has(nobody)).toBe(false)
      expect(await images.labels(nobody)).toBeUndefined()
      await images.remove(nobody)
      await expect(make({ image: nobody })).rejects.toMatchObject({ code: 'image_missing' })
    })

    test.each(['', 'UPPER/case', 'a b', '--all'])(
      '%j as a reference is refused or absent',
      async reference => {
        await expect(images.pull(reference)).rejects.toMatchObject({ name: 'Failure' })
        await expect(make({ image: reference })).rejects.toMatchObject({ name: 'Failure' })
      },
    )
  })
})
