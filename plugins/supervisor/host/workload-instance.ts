import type { Backend, ClientInstanceFactory } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type {
  Attachment,
  HiddenPath,
  Instance,
  InstanceSpec,
  Runtime,
} from '../../../src/contracts/runtime.ts'
import { isFailure } from '../../../src/errors.ts'
import { LABEL } from '../../../src/lib/labels.ts'
import { failures } from '../failures.ts'
import { assertMountsHold } from './assert-mounts-hold.ts'
import { describeExit, describeInstance } from './describe-exit.ts'
import type { IsolatedAccess } from './isolated-access.ts'

/** `create` makes the instance anew; `resume` starts, or goes on with, the one that is there. */
export type StartMode = 'create' | 'resume'

/** The instance of one workload, as a backend for its proxy. */
export interface WorkloadInstance {
  /** Starts the server. Fails if it cannot; `onExit` is called when the server exits by itself later. */
  start(mode: StartMode, onExit: (how: string) => void): Promise<Backend>
  isRunning(): Promise<boolean>
  /** How the instance differs from the one that was started; undefined when it runs unchanged, or is unknown. */
  findChange(): Promise<string | undefined>
  startedAt(): Date | undefined
  /** Closes the streams; nothing is stopped. */
  detach(): void
}

/** What a workload with an instance needs; a remote one has none of it. */
export interface LocalServer {
  readonly runtime: Runtime
  readonly spec: InstanceSpec
  /** Why no instance may be made from the spec. An instance that is there already may go on. */
  readonly specError?: unknown
  /** Paths in mounted folders that the server must not see, as they are now. */
  readonly findHidden: () => Promise<readonly HiddenPath[]>
  /** Values that must not appear in messages about the server. */
  readonly secrets: readonly string[]
  /** Present when the workload is isolated. */
  readonly access?: IsolatedAccess | undefined
}

/** Where the server listens when its runtime publishes nothing. */
export interface ServerAddress {
  readonly host: string
  readonly port: number
}

export interface WorkloadInstanceOptions {
  readonly config: RunConfig
  /** Undefined for a remote workload. */
  readonly local: LocalServer | undefined
  readonly target: ServerAddress
  readonly signal: AbortSignal
  /** Starts another process of a stdio server; undefined where all clients share one. */
  readonly spawn?: ClientInstanceFactory | undefined
}

export function createWorkloadInstance(options: WorkloadInstanceOptions): WorkloadInstance {
  const { config, local, signal } = options
  const stdio = config.transport === 'stdio'
  let attachment: Attachment | undefined
  let known: Instance | undefined

  /** Starts the instance that was made. Returns the backend of a stdio server, undefined for HTTP. */
  async function launch(
    server: LocalServer,
    before: Instance | undefined,
    onExit: (how: string) => void,
  ): Promise<Backend | undefined> {
    const { runtime, spec } = server
    if (!stdio && before?.state === 'running') return undefined
    // The streams of a running one belong to another process, so it has to start anew.
    if (stdio && before && before.state !== 'exited' && before.state !== 'created') {
      await runtime.stop(spec.name)
    }
    await assertMountsHold(spec.mounts)
    if (!stdio) return void (await runtime.start(spec.name))
    attachment = await runtime.attach(spec.name)
    if (signal.aborted) attachment.detach()
    return toBackend(attachment, onExit, options.spawn)
  }

  /** Goes on with an instance that is there. False when it has to be made anew. */
  async function resume(
    server: LocalServer,
    before: Instance,
    onExit: (how: string) => void,
  ): Promise<{ backend: Backend | undefined } | undefined> {
    try {
      await server.access?.openEgress()
      return { backend: await launch(server, before, onExit) }
    } catch (error) {
      signal.throwIfAborted()
      if (!isFailure(error)) throw error
      if (isFailure(error, 'runtime_unavailable') || isFailure(error, 'mount_through_link')) throw error
      return undefined
    }
  }

  async function create(server: LocalServer, spec: InstanceSpec): Promise<void> {
    await server.runtime.create({ ...spec, hidden: await server.findHidden() }, { signal })
    signal.throwIfAborted()
    await server.access?.openEgress()
    signal.throwIfAborted()
  }

  return {
    startedAt: () => known?.startedAt,
    detach() {
      attachment?.detach()
      attachment = undefined
    },
    async isRunning() {
      return (await local?.runtime.inspect(local.spec.name))?.state === 'running'
    },
    async findChange() {
      if (!local || stdio || !known) return undefined
      const before = known
      const found = await local.runtime.inspect(local.spec.name).catch(() => before)
      if (known !== before) return undefined
      if (!found) return 'it was removed'
      if (found.state !== 'running') return describeInstance(found)
      return isAnother(before, found) ? 'the runtime restarted it' : undefined
    },
    async start(mode, onExit) {
      if (!local) return { kind: 'http', target: new URL(config.remote_url ?? ''), remote: true }
      const { runtime, access } = local
      const { name } = local.spec
      known = undefined
      const before = mode === 'resume' ? await findReusable(local, { stdio }) : undefined
      if (!before) assertSpecComplete(local)
      signal.throwIfAborted()
      const spec = (await access?.prepare(local.spec)) ?? local.spec
      signal.throwIfAborted()
      const resumed = before && (await resume(local, before, onExit))
      if (!resumed) assertSpecComplete(local)
      if (!resumed) await create(local, spec)
      const { backend } = resumed ?? { backend: await launch(local, undefined, onExit) }
      const started = stdio && spec.ports.length === 0 ? undefined : await runtime.inspect(name)
      if (started) await access?.openIngress(started)
      if (backend) return backend
      known = started
      if (known?.state !== 'running') throw new Error(known ? describeInstance(known) : 'it was removed')
      return { kind: 'http', target: toTarget(options, spec, known), remote: false }
    },
  }
}

function toBackend(
  attachment: Attachment,
  onExit: (how: string) => void,
  spawn: ClientInstanceFactory | undefined,
): Backend {
  const { stdin, stdout, stderr, exit } = attachment
  for (const stream of [stdin, stdout, stderr]) {
    stream.on('error', () => undefined) // a broken stream shows in `exit`
  }
  stderr.resume() // the runtime keeps it as the log; unread it would block the server
  void exit.then(how => onExit(describeExit(how)))
  return { kind: 'stdio', attachment, spawn }
}

function assertSpecComplete({ specError }: LocalServer): void {
  if (specError !== undefined) throw specError
}

/** The instance that is there, if it may go on. Hidden paths may have moved since, so they are covered anew. */
async function findReusable(
  server: LocalServer,
  { stdio }: { stdio: boolean },
): Promise<Instance | undefined> {
  const there = await server.runtime.inspect(server.spec.name)
  if (!there || !isAsMade(there, server.spec)) return undefined
  const runsOn = there.state === 'running' && !stdio
  return runsOn || (await server.findHidden()).length === 0 ? there : undefined
}

function toTarget(
  { config, local, target }: WorkloadInstanceOptions,
  spec: InstanceSpec,
  instance: Instance,
): URL {
  const { host, port } = target
  if (local?.access) return local.access.urlOf(port)
  const published = instance.ports.find(({ instancePort }) => instancePort === port)
  if (!published && spec.ports.some(({ instancePort }) => instancePort === port)) {
    throw failures.instance_port_unknown({ name: config.name, port })
  }
  return new URL(`http://${host}:${published?.hostPort ?? port}`)
}

/** False for an instance with another network, and for one that its engine starts before the supervisor does. */
const isAsMade = ({ labels, restarts }: Instance, spec: InstanceSpec): boolean =>
  (labels[LABEL.isolation] ?? 'false') === (spec.labels[LABEL.isolation] ?? 'false') &&
  !(spec.restart === 'never' && restarts)

const isAnother = (a: Instance, b: Instance): boolean =>
  a.id !== b.id ||
  a.startedAt?.getTime() !== b.startedAt?.getTime() ||
  JSON.stringify(a.ports) !== JSON.stringify(b.ports)
