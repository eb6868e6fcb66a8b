import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Instance, InstanceEvent, InstanceSpec, Runtime } from '../../src/contracts/runtime.ts'
import { isFailure } from '../../src/errors.ts'
import { freePort } from './free-port.ts'
import { instanceSpec } from './instance-spec.ts'
import { needs } from './left-out.ts'

/**
 * Small programs that the suite runs.
 *
 * - `echo`: standard input to standard output, ends with its input
 * - `sleep`: says `ready`, then does nothing until SIGTERM
 * - `ignore-term`: says `ready`, then goes on in spite of SIGTERM
 * - `exit-7`: ends at once with code 7
 * - `print-env`: writes its environment as `KEY=value\0`, ends
 * - `lines`: writes `line 1` … `line 5` to standard output and `oops` to standard error, then waits
 * - `http`: answers any GET on port $PORT (all addresses) with `hello`
 * - `files`: writes the text of the file $READ, tries to write to it, writes `made` to the file $WRITE, ends
 * - `eat-memory`: takes memory until it is stopped
 */
export type ProgramKind =
  | 'echo'
  | 'sleep'
  | 'ignore-term'
  | 'exit-7'
  | 'print-env'
  | 'lines'
  | 'http'
  | 'files'
  | 'eat-memory'

export interface RuntimeContractOptions {
  /** What to run; may install or build it on first use. */
  program(
    kind: ProgramKind,
    runtime: Runtime,
  ): Pick<InstanceSpec, 'image' | 'args'> | Promise<Pick<InstanceSpec, 'image' | 'args'>>
  /** Why it cannot be tested here; the suite then says so in one line, and fails where CI is set. */
  readonly unavailable?: string | undefined
  /** Programs that this runtime has no use for; their facts are left out. */
  readonly without?: readonly ProgramKind[]
  /** Instances of all users share one space of names, so that one may belong to somebody else. */
  readonly sharedNames?: boolean
  /** It brings instances back by itself (`restart: 'unless-stopped'`). */
  readonly restarts?: boolean
  /** Instances are processes of this machine, or are made by some. */
  readonly processes?: boolean
}

/** The longest that anything here may take; a slow machine is no failure. */
const LIMIT_MS = 120_000

/**
 * What every runtime does, whatever it runs things in. `factory` makes a runtime for an installation
 * whose home is the folder given.
 */
export function runtimeContract(
  name: string,
  factory: (home: string) => Runtime | Promise<Runtime>,
  options: RuntimeContractOptions,
): void {
  const has = (kind: ProgramKind) => !options.without?.includes(kind)
  if (options.unavailable !== undefined) {
    test(`the ${name} runtime keeps the contract`, context => {
      needs(context, options.unavailable)
    })
    return
  }

  describe(`the ${name} runtime`, { timeout: LIMIT_MS }, () => {
    let runtime: Runtime
    let other: Runtime
    const homes: string[] = []
    const newHome = async () => {
      const home = await mkdtemp(join(tmpdir(), 'keelson-contract-'))
      homes.push(home)
      return home
    }

    beforeAll(async () => {
      runtime = await factory(await newHome())
      other = await factory(await newHome())
    })

    afterAll(async () => {
      try {
        expect(await runtime.list(), 'instances left behind').toEqual([])
      } finally {
        for (const { name } of await runtime.list()) await runtime.remove(name)
        for (const home of homes) await rm(home, { recursive: true, force: true })
      }
    })

    /** Makes an instance of a program under a name of its own; it goes with the test. */
    async function make(kind: ProgramKind, spec: Partial<InstanceSpec> = {}): Promise<string> {
      const name = spec.name ?? `kc-${randomBytes(5).toString('hex')}`
      onTestFinished(() => runtime.remove(name))
      await runtime.create(instanceSpec({ name, ...(await options.program(kind, runtime)), ...spec }))
      return name
    }

    /** Polls with a deadline what no event tells. */
    async function until(
      name: string,
      wanted: (now: Instance | undefined) => boolean,
    ): Promise<Instance | undefined> {
      const deadline = Date.now() + LIMIT_MS / 2
      for (;;) {
        const now = await runtime.inspect(name)
        if (wanted(now)) return now
        if (Date.now() > deadline) expect.fail(`"${name}" stayed ${now?.state ?? 'missing'}`)
        await delay(50)
      }
    }

    test('says that it is there, and in which version', async () => {
      expect(await runtime.probe()).toMatchObject({ ok: true, version: expect.stringMatching(/\d/) })
    })

    describe('the life of an instance', () => {
      test('created, started, listed, stopped, removed', async () => {
        const name = await make('sleep', { labels: { colour: 'green', 'keelson-basename': 'base' } })
        const created = await runtime.inspect(name)
        expect(created).toMatchObject({ name, state: 'created', ports: [] })
        expect(created?.startedAt).toBeUndefined()
        expect(created?.labels).toMatchObject({ colour: 'green', 'keelson-basename': 'base' })

        await runtime.start(name)
        const running = await runtime.inspect(name)
        expect(running).toMatchObject({ name, id: created?.id, state: 'running' })
        expect(running?.startedAt).toBeInstanceOf(Date)
        expect(running?.exitCode).toBeUndefined()
        expect((await runtime.list()).map(instance => instance.name)).toContain(name)

        await runtime.stop(name)
        expect(await runtime.inspect(name)).toMatchObject({ state: 'exited' })
        expect((await runtime.list()).map(instance => instance.name)).toContain(name)

        await runtime.remove(name)
        expect(await runtime.inspect(name)).toBeUndefined()
      })

      test('a running instance is measured', async () => {
        const name = await make('sleep')
        await runtime.start(name)
        const usage = await runtime.usage?.([name])
        expect(usage?.get(name)?.cpuPercent).toBeGreaterThanOrEqual(0)
        expect(usage?.get(name)?.memoryBytes).toBeGreaterThan(0)
        expect(await runtime.usage?.([])).toEqual(new Map())
      })

      test('starting, stopping and removing twice changes nothing', async () => {
        const name = await make('sleep')
        await runtime.start(name)
        const first = await runtime.inspect(name)
        await runtime.start(name)
        expect((await runtime.inspect(name))?.startedAt).toEqual(first?.startedAt)
        await runtime.stop(name)
        await runtime.stop(name)
        await runtime.remove(name)
        await runtime.remove(name)
        expect(await runtime.inspect(name)).toBeUndefined()
      })

      test('a stopped instance starts again', async () => {
        const name = await make('sleep')
        await runtime.start(name)
        await runtime.stop(name)
        await runtime.start(name)
        expect(await runtime.inspect(name)).toMatchObject({ state: 'running' })
      })

      test('creating again replaces the instance, even while it runs', async () => {
        const name = await make('sleep')
        await runtime.start(name)
        const first = await runtime.inspect(name)
        await make('sleep', { name })
        const second = await runtime.inspect(name)
        expect(second?.state).toBe('created')
        expect(second?.id).not.toBe(first?.id)
        expect((await runtime.list()).filter(instance => instance.name === name)).toHaveLength(1)
      })

      test('a running instance can be removed', async () => {
        const name = await make('ignore-term')
        await runtime.start(name)
        await runtime.remove(name)
        expect(await runtime.inspect(name)).toBeUndefined()
      })

      test('an instance that ignores SIGTERM is stopped after the grace', async () => {
        const name = await make('ignore-term')
        await runtime.start(name)
        await readUntil(await runtime.logs(name, { follow: true }), 'ready')
        await runtime.stop(name, { graceSeconds: 1 })
        expect(await runtime.inspect(name)).toMatchObject({ state: 'exited' })
      })

      test('two callers may remove the same instance', async () => {
        const name = await make('sleep')
        await runtime.start(name)
        await Promise.all([runtime.remove(name), runtime.remove(name)])
        expect(await runtime.inspect(name)).toBeUndefined()
      })

      if (options.restarts) {
        test('an instance that is to come back does', async () => {
          const stop = new AbortController()
          const events = collect(runtime.watch(stop.signal))
          onTestFinished(() => stop.abort())
          const name = await make('exit-7', { restart: 'unless-stopped' })
          await runtime.start(name)
          await events.count(event => event.kind === 'started' && event.name === name, 2)
          await runtime.stop(name)
          expect(await runtime.inspect(name)).toMatchObject({ state: 'exited' })
        })
      }
    })

    describe('what is not there', () => {
      const nobody = 'kc-there-is-no-such-instance'

      test('is undefined to inspect and nothing to stop or remove', async () => {
        expect(await runtime.inspect(nobody)).toBeUndefined()
        await runtime.stop(nobody)
        await runtime.remove(nobody)
      })

      test.each(['start', 'attach', 'logs'] as const)('cannot be given to %s', async call => {
        await expect(runtime[call](nobody)).rejects.toSatisfy(error => isFailure(error, 'instance_missing'))
      })

      test('an image that is not there makes no instance', async () => {
        const name = `kc-${randomBytes(5).toString('hex')}`
        const attempt = make('sleep', { name, image: 'keelson-test/there-is-no-such-image:1' })
        await expect(attempt).rejects.toSatisfy(error => isFailure(error))
        expect(await runtime.inspect(name)).toBeUndefined()
      })
    })

    describe('standard streams', () => {
      test('what goes in comes out: control characters, Unicode, megabytes', async () => {
        const name = await make('echo', { stdio: true })
        const { stdin, stdout, exit } = await runtime.attach(name)
        const sent = `\u0010\u0011\u0004\u001b[31m "quotes" 雪 🚢\n${'long line '.repeat(300_000)}\n`
        const received = text(stdout)
        stdin.end(sent)
        expect((await received) === sent).toBe(true)
        expect(await exit).toMatchObject({ code: 0 })
      })

      test('the end of its input reaches the instance', async () => {
        const name = await make('echo', { stdio: true })
        const attachment = await runtime.attach(name)
        attachment.stdout.resume()
        attachment.stdin.end()
        expect((await attachment.exit).code).toBe(0)
        await until(name, now => now?.state === 'exited')
      })

      test('what it says before anybody listens is kept', async () => {
        const name = await make('lines', { stdio: true })
        const { stdout, stderr } = await runtime.attach(name)
        await delay(200) // a slow caller, on purpose
        await readUntil(stdout, 'line 1\nline 2\nline 3\nline 4\nline 5\n')
        await readUntil(stderr, 'oops')
      })

      test('what it said before it ended is kept for a reader who comes later', async () => {
        const name = await make('print-env', { stdio: true, env: { KEPT: 'yes' } })
        const { stdin, stdout, exit } = await runtime.attach(name)
        stdin.end()
        await exit
        expect(await text(stdout)).toContain('KEPT=yes')
      })

      test('its exit is seen, with the code', async () => {
        const name = await make('exit-7', { stdio: true })
        const { exit } = await runtime.attach(name)
        expect(await exit).toMatchObject({ code: 7 })
        expect(await until(name, now => now?.state === 'exited')).toMatchObject({ exitCode: 7 })
      })

      test('stopping it ends the attachment', async () => {
        const name = await make('sleep', { stdio: true })
        const { stdout, exit } = await runtime.attach(name)
        await readUntil(stdout, 'ready')
        await runtime.stop(name, { graceSeconds: 1 })
        expect((await exit).code).toBeTypeOf('number')
      })

      test('removing it ends the attachment', async () => {
        const name = await make('sleep', { stdio: true })
        const { exit } = await runtime.attach(name)
        await runtime.remove(name)
        await exit
        expect(await runtime.inspect(name)).toBeUndefined()
      })

      test('attaching again after the exit runs it again', async () => {
        const name = await make('echo', { stdio: true })
        const first = await runtime.attach(name)
        first.stdout.resume()
        first.stdin.end()
        await first.exit
        const second = await runtime.attach(name)
        const received = text(second.stdout)
        second.stdin.end('again')
        expect(await received).toBe('again')
      })

      test('letting go does not stop it', async () => {
        const name = await make('sleep', { stdio: true })
        const attachment = await runtime.attach(name)
        await readUntil(attachment.stdout, 'ready')
        attachment.detach()
        expect(await runtime.inspect(name)).toMatchObject({ state: 'running' })
      })

      test('two instances at once keep apart', async () => {
        const names = await Promise.all([make('echo', { stdio: true }), make('echo', { stdio: true })])
        const attachments = await Promise.all(names.map(name => runtime.attach(name)))
        const received = await Promise.all(
          attachments.map(({ stdin, stdout }, i) => {
            stdin.end(`to ${i}`)
            return text(stdout)
          }),
        )
        expect(received).toEqual(['to 0', 'to 1'])
      })
    })

    describe('events', () => {
      test('tell of start, exit and removal', async () => {
        const stop = new AbortController()
        onTestFinished(() => stop.abort())
        const events = collect(runtime.watch(stop.signal))
        const name = await make('exit-7')
        await runtime.start(name)
        await events.count(event => event.kind === 'exited' && event.name === name, 1)
        await runtime.remove(name)
        await events.count(event => event.kind === 'removed' && event.name === name, 1)
        expect(events.seen.filter(event => event.kind !== 'gone' && event.name === name)).toEqual([
          { kind: 'started', name },
          { kind: 'exited', name, exitCode: 7 },
          { kind: 'removed', name },
        ])
      })

      test('end when the signal aborts, without `gone`', async () => {
        const stop = new AbortController()
        const events = collect(runtime.watch(stop.signal))
        const name = await make('exit-7')
        await runtime.start(name)
        await events.count(event => event.kind === 'exited', 1)
        stop.abort()
        await events.end
        expect(events.seen).not.toContainEqual({ kind: 'gone' })
      })
    })

    describe('the log', () => {
      test('holds standard output and error', async () => {
        const name = await make('lines')
        await runtime.start(name)
        await readUntil(await runtime.logs(name, { follow: true }), 'oops')
        const log = await text(await runtime.logs(name))
        for (const line of ['line 1', 'line 2', 'line 3', 'line 4', 'line 5', 'oops']) {
          expect(log.split(/\r?\n/)).toContain(line)
        }
      })

      test('can be cut to its last lines', async () => {
        const name = await make('lines')
        await runtime.start(name)
        await readUntil(await runtime.logs(name, { follow: true }), 'oops')
        const log = await text(await runtime.logs(name, { lines: 2 }))
        expect(log.trimEnd().split(/\r?\n/)).toHaveLength(2)
      })

      test('followed, ends with the instance', async () => {
        const name = await make('lines')
        await runtime.start(name)
        const log = await runtime.logs(name, { follow: true })
        await readUntil(log, 'line 5')
        const rest = text(log)
        await runtime.stop(name, { graceSeconds: 1 })
        await rest
      })

      test('followed, ends when the reader gives up', async () => {
        const name = await make('lines')
        await runtime.start(name)
        const stop = new AbortController()
        const log = await runtime.logs(name, { follow: true, signal: stop.signal })
        await readUntil(log, 'line 5')
        stop.abort()
        log.resume()
        if (!log.readableEnded) await once(log, 'end')
        expect(await runtime.inspect(name)).toMatchObject({ state: 'running' })
      })

      test('of an instance that has ended is still there', async () => {
        const name = await make('lines')
        await runtime.start(name)
        await readUntil(await runtime.logs(name, { follow: true }), 'line 5')
        await runtime.stop(name, { graceSeconds: 1 })
        expect(await text(await runtime.logs(name))).toContain('line 5')
      })
    })

    describe('the environment', () => {
      const printed = async (env: Record<string, string>) => {
        const name = await make('print-env', { stdio: true, env })
        const { stdout, stdin } = await runtime.attach(name)
        stdin.end()
        return Object.fromEntries(
          (await text(stdout))
            .split('\0')
            .filter(Boolean)
            .map(entry => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
        )
      }

      test('arrives as given: quotes, spaces, lines, Unicode, nothing', async () => {
        const env = {
          QUOTED: `"it's" $HOME \`x\` \\n`,
          SPACED: '  both ends  ',
          MANY_LINES: 'one\ntwo\n\nfour',
          UNICODE: '雪 🚢',
          EMPTY: '',
          'with.dot': 'kept',
        }
        expect(await printed(env)).toMatchObject(env)
      })

      test('may set what the program behind the runtime reads itself', async () => {
        const env = {
          PATH: '/usr/local/bin:/usr/bin:/bin:/for/the/instance',
          HOME: '/tmp',
          DOCKER_HOST: 'tcp://elsewhere:1',
          CONTAINER_HOST: 'ssh://elsewhere',
          HTTPS_PROXY: 'http://user:word@proxy:3128',
          GODEBUG: 'x509ignoreCN=0',
          TMPDIR: '/nowhere',
          SPACED_PROXY: '  "quoted"  # no comment',
        }
        expect(await printed(env)).toMatchObject(env)
      })

      test('holds nothing of ours', async () => {
        process.env.KEELSON_CONTRACT_LEAK = 'leaked'
        process.env.HTTP_PROXY = 'http://leaked:1'
        onTestFinished(() => {
          delete process.env.KEELSON_CONTRACT_LEAK
          delete process.env.HTTP_PROXY
        })
        const fresh = await factory(await newHome())
        const name = `kc-${randomBytes(5).toString('hex')}`
        onTestFinished(() => fresh.remove(name))
        const env = await printedBy(fresh, name)
        expect(env).not.toContain('leaked')
        expect(env).toContain('GIVEN=yes')
      })

      async function printedBy(by: Runtime, name: string): Promise<string> {
        await by.create({
          name,
          ...(await options.program('print-env', by)),
          env: { GIVEN: 'yes' },
          labels: {},
          stdio: true,
          ports: [],
          mounts: [],
          network: undefined,
          limits: {},
          restart: 'never',
          privileged: false,
          explicitProfile: false,
        })
        const { stdout, stdin } = await by.attach(name)
        stdin.end()
        return text(stdout)
      }

      if (options.processes !== false) {
        test('never shows in the arguments of a process', async () => {
          const secret = `s3cret-${randomBytes(8).toString('hex')}`
          const name = `kc-${randomBytes(5).toString('hex')}`
          let done = false
          const work = (async () => {
            await make('echo', { name, stdio: true, env: { API_TOKEN: secret, PATH: `/bin:/${secret}` } })
            const { stdin, stdout, exit } = await runtime.attach(name)
            stdout.resume()
            stdin.end()
            await exit
          })().finally(() => {
            done = true
          })
          const seen = new Set<string>()
          while (!done) {
            for (const line of await commandLines()) seen.add(line)
            await turn()
          }
          await work
          expect([...seen].filter(line => line.includes(secret))).toEqual([])
          expect(seen.size, 'command lines were read').toBeGreaterThan(0)
        })
      }

      test.each([
        ['a name that is none', { 'A=B': 'x' }],
        ['an empty name', { '': 'x' }],
        ['a NUL character', { ZERO: 'a\0b' }],
      ])('is refused with %s, and nothing is made', async (_, env) => {
        const name = `kc-${randomBytes(5).toString('hex')}`
        await expect(make('echo', { name, env })).rejects.toSatisfy(error => isFailure(error))
        expect(await runtime.inspect(name)).toBeUndefined()
      })
    })

    if (has('http')) {
      describe('ports', () => {
        test('are reachable where inspect says', async () => {
          const port = await freePort()
          const name = await make('http', {
            env: { PORT: String(port) },
            ports: [{ instancePort: port, address: '127.0.0.1' }],
          })
          await runtime.start(name)
          const [binding] = (await runtime.inspect(name))?.ports ?? []
          expect(binding).toMatchObject({ instancePort: port, address: '127.0.0.1' })
          expect(await fetchText(`http://127.0.0.1:${binding?.hostPort}/`)).toContain('hello')
          await runtime.stop(name, { graceSeconds: 1 })
          expect((await runtime.inspect(name))?.ports).toEqual([])
        })

        test('may be chosen', async () => {
          const port = await freePort()
          const name = await make('http', {
            env: { PORT: String(port) },
            ports: [{ instancePort: port, address: '127.0.0.1', hostPort: port }],
          })
          await runtime.start(name)
          expect((await runtime.inspect(name))?.ports).toEqual([
            { instancePort: port, address: '127.0.0.1', hostPort: port },
          ])
          expect(await fetchText(`http://127.0.0.1:${port}/`)).toContain('hello')
        })
      })
    }

    if (has('files')) {
      test('a mount for reading can only be read, one for writing be written', async () => {
        const home = await newHome()
        const [source, target] = [join(home, 'read, "only"'), join(home, 'out')]
        await writeFile(source, 'from the host\n')
        await writeFile(target, '')
        const name = await make('files', {
          stdio: true,
          env: { READ: '/mounted/read', WRITE: '/mounted/write' },
          mounts: [
            { source, target: '/mounted/read', readOnly: true },
            { source: target, target: '/mounted/write', readOnly: false },
          ],
        })
        const { stdin, stdout, exit } = await runtime.attach(name)
        stdin.end()
        expect(await text(stdout)).toContain('from the host')
        await exit
        expect(await readFile(source, 'utf8')).toBe('from the host\n')
        expect(await readFile(target, 'utf8')).toContain('made')
      })

      test('a hidden path shows nothing and takes nothing, and on the host nothing changes', async () => {
        const source = await newHome()
        await mkdir(join(source, 'vault'))
        await writeFile(join(source, 'key'), 'one secret\n')
        await writeFile(join(source, 'vault', 'key'), 'another secret\n')
        const say = async (env: { READ: string; WRITE: string }) => {
          const name = await make('files', {
            stdio: true,
            env,
            mounts: [{ source, target: '/mounted', readOnly: false }],
            hidden: [
              { target: '/mounted/key', directory: false },
              { target: '/mounted/vault', directory: true },
            ],
          })
          const { stdin, stdout, exit } = await runtime.attach(name)
          stdin.end()
          const said = await text(stdout)
          await exit
          return said
        }

        expect(await say({ READ: '/mounted/key', WRITE: '/mounted/vault/new' })).not.toContain('secret')
        expect(await say({ READ: '/mounted/vault/key', WRITE: '/mounted/key' })).not.toContain('secret')
        expect(await readFile(join(source, 'key'), 'utf8')).toBe('one secret\n')
        expect(await readdir(join(source, 'vault'))).toEqual(['key'])
        expect(await readFile(join(source, 'vault', 'key'), 'utf8')).toBe('another secret\n')
      })

      test('a mount of what is not there is refused, and nothing appears on the host', async () => {
        const source = join(await newHome(), 'missing')
        const name = `kc-${randomBytes(5).toString('hex')}`
        const attempt = make('files', { name, mounts: [{ source, target: '/mounted', readOnly: true }] })
        await expect(attempt.then(() => runtime.start(name))).rejects.toSatisfy(error =>
          isFailure(error, 'mount_missing'),
        )
        await expect(readdir(source)).rejects.toMatchObject({ code: 'ENOENT' })
      })
    }

    if (has('eat-memory')) {
      test('an instance that takes more memory than it may is ended, and the reason is told', async () => {
        const name = await make('eat-memory', { stdio: true, limits: { memory: 32 * 1024 * 1024 } })
        const { exit, stdin, stdout, stderr } = await runtime.attach(name)
        stdin.end()
        stdout.resume()
        stderr.resume()
        expect(await exit).toMatchObject({
          code: expect.any(Number),
          reason: expect.stringContaining('memory'),
        })
      })
    }

    test("another installation's instances are neither listed nor touched", async () => {
      const name = await make('sleep')
      await runtime.start(name)
      expect((await other.list()).map(instance => instance.name)).not.toContain(name)
      expect(await other.inspect(name)).toBeUndefined()
      await other.stop(name)
      await other.remove(name)
      expect(await runtime.inspect(name)).toMatchObject({ state: 'running' })
    })

    if (options.sharedNames) {
      test("another installation's name is refused, and its instance left alone", async () => {
        const name = await make('sleep')
        await runtime.start(name)
        const before = await runtime.inspect(name)
        const attempt = other.create({
          name,
          ...(await options.program('sleep', other)),
          env: {},
          labels: {},
          stdio: false,
          ports: [],
          mounts: [],
          network: undefined,
          limits: {},
          restart: 'never',
          privileged: false,
          explicitProfile: false,
        })
        await expect(attempt).rejects.toSatisfy(error => isFailure(error, 'name_taken'))
        expect(await runtime.inspect(name)).toEqual(before)
      })
    }
  })
}

/** Reads until the text has come; what follows stays in the stream. */
export async function readUntil(stream: Readable, wanted: string): Promise<string> {
  let seen = ''
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const onData = (chunk: Buffer | string) => {
    seen += chunk.toString()
    if (seen.includes(wanted)) resolve(seen)
  }
  const onEnd = () => reject(new Error(`the stream ended without ${JSON.stringify(wanted)}: ${seen}`))
  stream.on('data', onData)
  stream.once('end', onEnd)
  stream.once('error', reject)
  try {
    return await promise
  } finally {
    stream.pause()
    stream.off('data', onData)
    stream.off('end', onEnd)
    stream.off('error', reject)
  }
}

function collect(events: AsyncIterable<InstanceEvent>) {
  const seen: InstanceEvent[] = []
  const listeners = new Set<() => void>()
  const end = (async () => {
    for await (const event of events) {
      seen.push(event)
      for (const listener of listeners) listener()
    }
    for (const listener of listeners) listener()
  })()
  return {
    seen,
    end,
    /** Resolves when so many events of that kind have been seen. */
    count: (wanted: (event: InstanceEvent) => boolean, times: number) =>
      new Promise<void>(resolve => {
        const look = () => {
          if (seen.filter(wanted).length >= times) resolve()
        }
        listeners.add(look)
        look()
      }),
  }
}

/** A server takes a moment to listen. */
async function fetchText(url: string): Promise<string> {
  const deadline = Date.now() + LIMIT_MS / 2
  for (;;) {
    try {
      return await (await fetch(url)).text()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await delay(50)
    }
  }
}

/** proc(5): arguments of all processes, ours left out. */
async function commandLines(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter(entry => /^\d+$/.test(entry) && Number(entry) !== process.pid)
  const lines = await Promise.all(pids.map(pid => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter(Boolean)
}
