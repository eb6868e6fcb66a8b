import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { failures as imageFailures } from '../../plugins/runtime-docker/failures.ts'
import type {
  Exit,
  ImageBuild,
  Instance,
  InstanceEvent,
  InstanceSpec,
  Probe,
  Runtime,
} from '../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import type { JsonRpcRequest } from '../../src/net/json-rpc.ts'
import { freePort } from './free-port.ts'

/** One run of an instance, as the program in it sees it. */
export interface FakeProcess {
  readonly spec: InstanceSpec
  readonly ports: Instance['ports']
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  /** Aborts when it is asked to end (SIGTERM). */
  readonly term: AbortSignal
  /** Aborts when it is over in any way: what the program opened must be closed then. */
  readonly over: AbortSignal
}

/** Stands for an image: runs in the test's own process and resolves to the exit code. */
export type FakeProgram = (process: FakeProcess) => Promise<number>

export interface FakeRuntime extends Runtime {
  /** What it was given, for assertions. */
  readonly specs: ReadonlyMap<string, InstanceSpec>
  readonly builds: readonly ImageBuild[]
  readonly pulls: readonly string[]
  /** Ends a running instance as a crash would. */
  crash(name: string, exit?: Exit): void
  /** The engine goes away: watchers see `gone`, attachments break, every call fails until `comeBack`. Instances live on. */
  goAway(): void
  comeBack(): void
}

interface Run {
  readonly startedAt: Date
  readonly ports: Instance['ports']
  readonly stdin: PassThrough
  readonly stdout: PassThrough
  readonly stderr: PassThrough
  readonly term: AbortController
  readonly over: AbortController
  readonly end: (exit: Exit) => void
  readonly exit: Promise<Exit>
}

interface Entry {
  readonly spec: InstanceSpec
  readonly id: string
  readonly createdAt: Date
  readonly log: string[]
  readonly logged: EventTarget
  run?: Run | undefined
  last?: { exit: Exit; startedAt: Date }
}

/**
 * A runtime in memory that keeps the contract. `programs` are the images on this host; those in
 * `pullable` have to be pulled first.
 */
export function createFakeRuntime(options: {
  name?: string
  programs: Readonly<Record<string, FakeProgram>>
  pullable?: Readonly<Record<string, FakeProgram>>
  probe?: Probe
}): FakeRuntime {
  const { name: runtime = 'fake', pullable = {}, probe = { ok: true, version: '1', warnings: [] } } = options
  const programs = new Map(Object.entries(options.programs))
  const imageLabels = new Map<string, Readonly<Record<string, string>>>()
  const entries = new Map<string, Entry>()
  const watchers = new Set<(event: InstanceEvent) => void>()
  const specs = new Map<string, InstanceSpec>()
  const builds: ImageBuild[] = []
  const pulls: string[] = []
  let away = false
  let made = 0

  const emit = (event: InstanceEvent) => {
    for (const watcher of watchers) watcher(event)
  }
  const assertThere = () => {
    if (away) throw runtimeFailures.runtime_unavailable({ runtime, problem: 'it is away.' })
  }
  const get = (name: string): Entry => {
    assertThere()
    const entry = entries.get(name)
    if (!entry) throw runtimeFailures.instance_missing({ runtime, name })
    return entry
  }

  async function begin(entry: Entry): Promise<Run> {
    const { spec } = entry
    const program = programs.get(spec.image)
    if (!program) throw imageFailures.image_missing({ runtime, image: spec.image })
    const ports = await Promise.all(
      spec.ports.map(async port => ({
        ...port,
        hostPort: port.hostPort ?? (await freePort(port.address)),
      })),
    )
    const { promise: exit, resolve: end } = Promise.withResolvers<Exit>()
    const run: Run = {
      startedAt: new Date(Math.max(Date.now(), (entry.last?.startedAt.getTime() ?? 0) + 1)),
      ports,
      stdin: new PassThrough(),
      stdout: new PassThrough(),
      stderr: new PassThrough(),
      term: new AbortController(),
      over: new AbortController(),
      end,
      exit,
    }
    entry.run = run
    const keep = (chunk: Buffer) => {
      entry.log.push(chunk.toString())
      entry.logged.dispatchEvent(new Event('more'))
    }
    const stdout = tee(run.stdout, keep)
    const stderr = tee(run.stderr, keep)
    void exit.then(last => {
      entry.run = undefined
      entry.last = { exit: last, startedAt: run.startedAt }
      run.over.abort()
      stdout.end()
      stderr.end()
      entry.logged.dispatchEvent(new Event('over'))
      emit({ kind: 'exited', name: spec.name, ...(last.code === undefined ? {} : { exitCode: last.code }) })
    })
    emit({ kind: 'started', name: spec.name })
    program({
      spec,
      ports,
      stdin: run.stdin,
      stdout,
      stderr,
      term: run.term.signal,
      over: run.over.signal,
    }).then(
      code => end({ code }),
      error => end({ code: 1, reason: String(error) }),
    )
    return run
  }

  async function stop(name: string, graceSeconds: number): Promise<void> {
    assertThere()
    const run = entries.get(name)?.run
    if (!run) return
    run.term.abort()
    const kill = setTimeout(() => run.end({ code: 137 }), graceSeconds * 1000)
    await run.exit
    clearTimeout(kill)
  }

  async function remove(name: string): Promise<void> {
    await stop(name, 0)
    if (!entries.delete(name)) return
    specs.delete(name)
    emit({ kind: 'removed', name })
  }

  function describe(entry: Entry): Instance {
    const { spec, id, createdAt, run, last } = entry
    const startedAt = run?.startedAt ?? last?.startedAt
    const { code, reason } = (!run && last?.exit) || {}
    return {
      name: spec.name,
      id,
      image: spec.image,
      state: run ? 'running' : last ? 'exited' : 'created',
      labels: spec.labels,
      ports: run?.ports ?? [],
      createdAt,
      ...(startedAt ? { startedAt } : {}),
      ...(code === undefined ? {} : { exitCode: code }),
      ...(reason === undefined ? {} : { reason }),
    }
  }

  return {
    name: runtime,
    specs,
    builds,
    pulls,
    images: {
      has: async reference => programs.has(reference),
      labels: async reference => (programs.has(reference) ? (imageLabels.get(reference) ?? {}) : undefined),
      async pull(reference, { report } = {}) {
        assertThere()
        const program = pullable[reference]
        if (!program) throw imageFailures.pull_failed({ runtime, image: reference, problem: 'not found' })
        report?.(`pulling ${reference}`)
        pulls.push(reference)
        programs.set(reference, program)
      },
      async build(build, { report } = {}) {
        assertThere()
        report?.(`building ${build.tag}`)
        builds.push(build)
        programs.set(build.tag, pullable[build.tag] ?? echo)
        imageLabels.set(build.tag, build.labels)
      },
      async remove(reference) {
        programs.delete(reference)
      },
    },
    probe: async () => (away ? { ok: false, problem: 'it is away.', hint: 'Call it back.' } : probe),
    async create(spec) {
      assertThere()
      if (!programs.has(spec.image)) throw imageFailures.image_missing({ runtime, image: spec.image })
      for (const [name, value] of Object.entries(spec.env)) {
        if (/^[^=\0]+$/.test(name) && !value.includes('\0')) continue
        throw runtimeFailures.env_refused({ name, problem: 'no process could have it.' })
      }
      await remove(spec.name)
      made += 1
      specs.set(spec.name, spec)
      entries.set(spec.name, {
        spec,
        id: `fake-${made}`,
        createdAt: new Date(),
        log: [],
        logged: new EventTarget(),
      })
    },
    async start(name) {
      const entry = get(name)
      if (entry.run) return
      const run = await begin(entry)
      run.stdout.resume()
      run.stderr.resume()
    },
    async attach(name) {
      const entry = get(name)
      if (entry.run) await stop(name, 1)
      const run = await begin(entry)
      const broken = Promise.withResolvers<Exit>()
      const lost = (event: InstanceEvent) => {
        if (event.kind !== 'gone') return
        run.stdin.end()
        broken.resolve({ reason: 'the runtime went away' })
      }
      watchers.add(lost)
      void run.exit.then(() => watchers.delete(lost))
      return {
        stdin: run.stdin,
        stdout: run.stdout,
        stderr: run.stderr,
        exit: Promise.race([run.exit, broken.promise]),
        detach: () => {
          run.stdin.end()
          run.stdout.resume()
          run.stderr.resume()
        },
      }
    },
    stop: (name, { graceSeconds = 10 } = {}) => stop(name, graceSeconds),
    remove,
    async inspect(name) {
      assertThere()
      const entry = entries.get(name)
      return entry && describe(entry)
    },
    usage: async names => new Map(names.map(name => [name, { cpuPercent: 0, memoryBytes: 1 }])),

    async list() {
      assertThere()
      return [...entries.values()].map(describe)
    },
    async logs(name, { follow = false, lines = 0, signal } = {}) {
      const entry = get(name)
      const out = new PassThrough()
      const past = entry.log.join('').split(/(?<=\n)/)
      out.write((lines ? past.slice(-lines) : past).join(''))
      if (!follow || !entry.run) {
        out.end()
        return out
      }
      let seen = entry.log.length
      const more = () => {
        for (; seen < entry.log.length; seen++) out.write(entry.log[seen])
      }
      const end = () => {
        entry.logged.removeEventListener('more', more)
        out.end()
      }
      entry.logged.addEventListener('more', more)
      entry.logged.addEventListener('over', end, { once: true })
      signal?.addEventListener('abort', end, { once: true })
      return out
    },
    watch: signal => watchEvents(watchers, signal),
    crash(name, exit = { code: 139 }) {
      entries.get(name)?.run?.end(exit)
    },
    goAway() {
      away = true
      emit({ kind: 'gone' })
    },
    comeBack() {
      away = false
    },
  }
}

/** Subscribed from the call on, not from the first read. */
function watchEvents(
  watchers: Set<(event: InstanceEvent) => void>,
  signal: AbortSignal,
): AsyncIterable<InstanceEvent> {
  const queue: InstanceEvent[] = []
  let wake = Promise.withResolvers<void>()
  const watcher = (event: InstanceEvent) => {
    queue.push(event)
    wake.resolve()
  }
  watchers.add(watcher)
  signal.addEventListener('abort', () => wake.resolve(), { once: true })
  return (async function* () {
    try {
      while (!signal.aborted) {
        const event = queue.shift()
        if (!event) {
          await wake.promise
          wake = Promise.withResolvers()
          continue
        }
        yield event
        if (event.kind === 'gone') return
      }
    } finally {
      watchers.delete(watcher)
    }
  })()
}

/** Writes reach the log and the reader; a slow reader slows the writer. */
function tee(to: PassThrough, keep: (chunk: Buffer) => void): PassThrough {
  const from = new PassThrough()
  from.on('data', keep)
  from.pipe(to)
  return from
}

/** Gives back what it gets; ends with its input. */
export const echo: FakeProgram = async ({ stdin, stdout, term, over }) => {
  stdin.pipe(stdout, { end: false })
  await Promise.race([once(stdin, 'end', { signal: over }).catch(() => undefined), aborted(term)])
  return term.aborted ? 143 : 0
}

/** Resolves when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** What a scripted server answers to one method: a result, or a function that makes it. */
export type Answer = unknown | ((request: JsonRpcRequest) => unknown)

/**
 * A stdio server that answers by a table from method to result; unknown methods get error -32601.
 * What it heard is in `received`. Ends with its input, or when asked to.
 */
export function scriptedServer(answers: Readonly<Record<string, Answer>>): FakeProgram & {
  readonly received: JsonRpcRequest[]
} {
  const received: JsonRpcRequest[] = []
  const program: FakeProgram = async ({ stdin, stdout, term }) => {
    const lines = createInterface({ input: stdin })
    term.addEventListener('abort', () => lines.close(), { once: true })
    for await (const line of lines) {
      const request = JSON.parse(line) as JsonRpcRequest
      received.push(request)
      if (request.id === undefined || !request.method) continue
      const answer = answers[request.method]
      const result: unknown = typeof answer === 'function' ? await answer(request) : answer
      const error = { code: -32601, message: 'Method not found' }
      const body = result === undefined ? { error } : { result }
      stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: request.id, ...body })}\n`)
    }
    return term.aborted ? 143 : 0
  }
  return Object.assign(program, { received })
}
