import type { Backend } from '../../../src/contracts/pipeline.ts'
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
import { describeEnd, describeInstance } from './describe-exit.ts'
import type { IsolatedAccess } from './isolated-access.ts'

/** `create` makes the instance anew; `resume` takes the one that is there. */
export type StartMode = 'create' | 'resume'

/** The instance of one workload, as a backend for its proxy. */
export interface WorkloadInstance {
  /** Brings the server up; `onEnd` hears when it ends by itself. Fails if it cannot. */
  open(mode: StartMode, onEnd: (how: string) => void): Promise<Backend>
  /** Whether the instance runs. */
  runs(): Promise<boolean>
  /** How the instance differs from what was opened; undefined when it is the same and runs, or nobody knows. */
  changed(): Promise<string | undefined>
  startedAt(): Date | undefined
  /** Lets go of the streams; nothing is stopped. */
  release(): void
}

export interface WorkloadInstanceOptions {
  readonly config: RunConfig
  /** Absent for a remote workload. */
  readonly local:
    | {
        readonly runtime: Runtime
        readonly spec: InstanceSpec
        /** Why nothing may be made from the spec; an instance that is there needs none of what is missing. */
        readonly unfit?: unknown
        /** What the server must not see of its folders, as they are now. */
        readonly findHidden: () => Promise<readonly HiddenPath[]>
        /** Values that nothing said about the server may hold. */
        readonly secrets: readonly string[]
        /** Present when the workload is isolated. */
        readonly access?: IsolatedAccess | undefined
      }
    | undefined
  /** Where the server listens when its runtime publishes nothing. */
  readonly target: { readonly host: string; readonly port: number }
  readonly signal: AbortSignal
}

export function createWorkloadInstance({
  config,
  local,
  target,
  signal,
}: WorkloadInstanceOptions): WorkloadInstance {
  const stdio = config.transport === 'stdio'
  let attachment: Attachment | undefined
  let known: Instance | undefined

  async function attach(runtime: Runtime, name: string, onEnd: (how: string) => void): Promise<Backend> {
    const streams = await runtime.attach(name)
    if (signal.aborted) streams.detach()
    attachment = streams
    for (const stream of [streams.stdin, streams.stdout, streams.stderr]) {
      stream.on('error', () => undefined) // a broken stream shows in `exit`
    }
    streams.stderr.resume() // the runtime keeps what it says; unread it would block the server
    void streams.exit.then(exit => onEnd(describeEnd(exit)))
    return { kind: 'stdio', attachment: streams }
  }

  /** Starts what was made; a stdio server is connected at once. */
  async function launch(before: Instance | undefined, onEnd: (how: string) => void) {
    if (!local) throw new Error('a remote workload has no instance')
    const { runtime, spec } = local
    if (!stdio) {
      if (before?.state === 'running') return 'started' as const
      await assertMountsHold(spec.mounts)
      await runtime.start(spec.name)
      return 'started' as const
    }
    // The streams of one that runs belong to somebody else, so it has to begin anew.
    if (before && before.state !== 'exited' && before.state !== 'created') await runtime.stop(spec.name)
    await assertMountsHold(spec.mounts)
    return await attach(runtime, spec.name, onEnd)
  }

  async function resume(before: Instance, onEnd: (how: string) => void) {
    await local?.access?.openEgress()
    return launch(before, onEnd)
  }

  /** An instance of an earlier host's that cannot be started by this one is made anew. */
  function refused(error: unknown): undefined {
    signal.throwIfAborted()
    if (!isFailure(error)) throw error
    if (isFailure(error, 'runtime_unavailable') || isFailure(error, 'mount_through_link')) throw error
  }

  /** Whether it may be taken as it is. What is hidden may have been moved since, so that it must be covered anew. */
  async function isFit(there: Instance): Promise<boolean> {
    if (!local || !isAsMade(there, local.spec)) return false
    return (there.state === 'running' && !stdio) || (await local.findHidden()).length === 0
  }

  function assertFit(): void {
    if (local?.unfit !== undefined) throw local.unfit
  }

  function toTarget(spec: InstanceSpec, instance: Instance): URL {
    if (local?.access) return local.access.urlOf(target.port)
    const published = instance.ports.find(({ instancePort }) => instancePort === target.port)
    if (!published && spec.ports.some(({ instancePort }) => instancePort === target.port)) {
      throw failures.instance_port_unknown({ name: config.name, port: target.port })
    }
    return new URL(`http://${target.host}:${published?.hostPort ?? target.port}`)
  }

  return {
    startedAt: () => known?.startedAt,
    release() {
      attachment?.detach()
      attachment = undefined
    },
    async runs() {
      return (await local?.runtime.inspect(local.spec.name))?.state === 'running'
    },
    async changed() {
      if (!local || stdio || !known) return undefined
      const before = known
      const found = await local.runtime.inspect(local.spec.name).catch(() => before)
      if (known !== before) return undefined
      if (!found) return 'it was removed'
      if (found.state !== 'running') return describeInstance(found)
      return isAnother(before, found) ? 'the runtime restarted it' : undefined
    },
    async open(mode, onEnd) {
      if (!local) return { kind: 'http', target: new URL(config.remote_url ?? ''), remote: true }
      const { runtime, access } = local
      known = undefined
      const there = mode === 'resume' ? await runtime.inspect(local.spec.name) : undefined
      const before = there && (await isFit(there)) ? there : undefined
      if (!before) assertFit()
      signal.throwIfAborted()
      // Side by side, since each is a call of the engine's program or more.
      const [prepared] = await Promise.all([
        access?.prepare(local.spec),
        before ? undefined : runtime.remove(local.spec.name),
      ])
      const spec = prepared ?? local.spec
      signal.throwIfAborted()
      const resumed = before && (await resume(before, onEnd).catch(refused))
      if (!resumed) assertFit()
      if (before && !resumed) await runtime.remove(spec.name)
      signal.throwIfAborted()
      if (!resumed) await runtime.create({ ...spec, hidden: await local.findHidden() }, { signal })
      signal.throwIfAborted()
      if (!resumed) await access?.openEgress()
      signal.throwIfAborted()
      const backend = resumed ?? (await launch(undefined, onEnd))
      const started = stdio && spec.ports.length === 0 ? undefined : await runtime.inspect(spec.name)
      if (started) await access?.openIngress(started)
      if (backend !== 'started') return backend
      known = started
      if (known?.state === 'running') return { kind: 'http', target: toTarget(spec, known), remote: false }
      throw new Error(known ? describeInstance(known) : 'it was removed')
    },
  }
}

/** One that was made with another network, or that its engine starts before this host does, is made anew. */
const isAsMade = ({ labels, restarts }: Instance, spec: InstanceSpec): boolean =>
  (labels[LABEL.isolation] ?? 'false') === (spec.labels[LABEL.isolation] ?? 'false') &&
  !(spec.restart === 'never' && restarts)

const isAnother = (a: Instance, b: Instance): boolean =>
  a.id !== b.id ||
  a.startedAt?.getTime() !== b.startedAt?.getTime() ||
  JSON.stringify(a.ports) !== JSON.stringify(b.ports)
