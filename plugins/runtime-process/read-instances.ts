import type { Instance } from '../../src/contracts/runtime.ts'
import { isRunning } from '../../src/lib/process-identity.ts'
import type { InstanceProcesses } from './instance-processes.ts'
import type { InstanceRecord, InstanceRecords } from './instance-record.ts'
import { endGroup, type Group } from './process-group.ts'
import { portAccessOf } from './sandbox-network.ts'

/** Where instances that are not isolated listen. */
export const LOOPBACK = '127.0.0.1'

/** The process group of an instance; undefined when it was never started. */
export const groupOf = ({ id, sandboxed, process: leader }: InstanceRecord): Group | undefined =>
  leader && { leader: leader.identity, mark: id, sandboxed }

/** Whether the process that held the streams of an instance has ended. Such an instance can no longer be reached. */
const isOrphan = ({ process: leader }: InstanceRecord): boolean =>
  leader?.owner !== undefined && !isRunning(leader.owner)

/** Reads instances from their records and their processes. */
export interface InstanceReader {
  /** Ends the process of an orphan on the way. */
  read(record: InstanceRecord): Promise<Instance>
  find(name: string): Promise<Instance | undefined>
  list(): Promise<Instance[]>
}

export function createInstanceReader(options: {
  records: InstanceRecords
  processes: Pick<InstanceProcesses, 'recorded'>
  /** Where the sockets of isolated instances are. */
  sockets: string
}): InstanceReader {
  const { records, processes, sockets } = options

  /** How the last process ended. */
  async function endOf(record: InstanceRecord, group: Group): Promise<Pick<Instance, 'exitCode' | 'reason'>> {
    await processes.recorded(group.leader)
    const exit = await records.readExit(record.name, group.leader)
    const reason = exit ? exit.reason : 'no process saw it end'
    return { ...(exit?.code === undefined ? {} : { exitCode: exit.code }), ...(reason ? { reason } : {}) }
  }

  async function read(record: InstanceRecord): Promise<Instance> {
    const { id, name, image, labels, enclosed: isolated } = record
    const group = groupOf(record)
    if (group && isOrphan(record) && isRunning(group.leader)) await endGroup(group, 0)
    const running = group !== undefined && isRunning(group.leader)
    const published = running && !isolated ? record.ports : []
    return {
      name,
      id,
      image,
      labels,
      state: running ? 'running' : group ? 'exited' : 'created',
      ports: published.map(port => ({ instancePort: port, hostPort: port, address: LOOPBACK })),
      ...(running && isolated ? { portAccess: portAccessOf(sockets, name, record.ports) } : {}),
      createdAt: new Date(record.created_at),
      ...(record.process ? { startedAt: new Date(record.process.started_at) } : {}),
      ...(group && !running ? await endOf(record, group) : {}),
    }
  }

  async function find(name: string): Promise<Instance | undefined> {
    const record = await records.read(name)
    return record && read(record)
  }

  return {
    read,
    find,
    async list() {
      const found = await Promise.all(
        // A record that cannot be read must not hide the others.
        (await records.names()).map(name => find(name).catch(() => undefined)),
      )
      return found.filter(instance => instance !== undefined)
    },
  }
}
