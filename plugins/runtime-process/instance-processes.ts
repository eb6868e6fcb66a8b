import type { Exit } from '../../src/contracts/runtime.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import { processIdentity } from '../../src/lib/process-identity.ts'
import { describeExit } from './attachment.ts'
import { failures } from './failures.ts'
import type { InstanceRecord, InstanceRecords } from './instance-record.ts'
import { type Launched, launch } from './launch-process.ts'
import { enterGroups } from './limits/control-groups.ts'
import type { LimitSupport } from './limits/limit-support.ts'
import type { PreparedLaunch } from './prepare-launch.ts'
import { killLeftovers } from './process-group.ts'

/** The processes that this process has started for instances. */
export interface InstanceProcesses {
  /** Keeps what `start` needs, until `forget`. */
  prepare(name: string, launch: PreparedLaunch): void
  forget(name: string): void
  /** Starts the process of an instance and records its end. Fails with `process_forgotten`, `process_start_failed`. */
  start(
    record: InstanceRecord,
    streams: 'pipes' | { readonly file: number },
  ): Promise<Launched & { readonly exit: Promise<Exit> }>
  /** Resolves when the end of a child of this process has been recorded; at once for all others. */
  recorded(identity: string): Promise<void>
}

export function createInstanceProcesses(options: {
  records: InstanceRecords
  limitSupport: () => Promise<LimitSupport>
  /** Called when a process has started or ended. */
  onChange: () => void
}): InstanceProcesses {
  const { records, limitSupport, onChange } = options
  const prepared = new Map<string, PreparedLaunch>()
  const ends = new Map<string, Promise<Exit>>()

  async function launchRecorded(
    record: InstanceRecord,
    streams: 'pipes' | { readonly file: number },
  ): Promise<Launched> {
    const { name, id } = record
    const ready = prepared.get(name)
    if (ready?.id !== id) throw failures.process_forgotten({ name })
    const owner = streams === 'pipes' ? processIdentity(process.pid) : undefined
    try {
      return await launch({
        ...ready,
        cwd: records.home(name),
        streams,
        record: async (identity, pid) => {
          const leader = { identity, started_at: new Date().toISOString(), ...(owner ? { owner } : {}) }
          await records.write({ ...record, process: leader })
          await enterGroups((await limitSupport()).groups, { id, limits: ready.limits, pid })
        },
      })
    } catch (error) {
      if (isFailure(error)) throw error
      throw failures.process_start_failed({ name, problem: messageOf(error) }, { cause: error })
    }
  }

  async function recordEnd({ name, id, sandboxed }: InstanceRecord, end: Exit & { identity: string }) {
    await killLeftovers({ leader: end.identity, mark: id, sandboxed })
    await records.writeExit(name, end)
  }

  function watchEnd(record: InstanceRecord, { child, identity }: Launched): Promise<Exit> {
    return new Promise(resolve => {
      child.once('exit', (code, signal) => {
        const end = describeExit(code, signal)
        void recordEnd(record, { identity, ...end })
          .catch(() => undefined)
          .finally(() => {
            resolve(end)
            ends.delete(identity)
            onChange()
          })
      })
    })
  }

  return {
    prepare: (name, ready) => void prepared.set(name, ready),
    forget: name => void prepared.delete(name),

    async start(record, streams) {
      const launched = await launchRecorded(record, streams)
      const exit = watchEnd(record, launched)
      ends.set(launched.identity, exit)
      onChange()
      return { ...launched, exit }
    },

    async recorded(identity) {
      await ends.get(identity)
    },
  }
}
