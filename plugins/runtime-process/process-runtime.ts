import { randomUUID } from 'node:crypto'
import { open } from 'node:fs/promises'
import {
  type InstanceSpec,
  type PackageStore,
  type Runtime,
  STOP_GRACE_SECONDS,
  type WaitOptions,
} from '../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { isExecutable } from '../../src/lib/find-on-path.ts'
import { isPortFree } from '../../src/lib/ports.ts'
import { withFileLock } from '../../src/with-file-lock.ts'
import { assertRunnable, noSandbox } from './assert-runnable.ts'
import { toAttachment } from './attachment.ts'
import { failures } from './failures.ts'
import type { Bubblewrap } from './find-bubblewrap.ts'
import { capLog, openLogWriter, readLog } from './instance-log.ts'
import { createInstanceProcesses, type InstanceProcesses } from './instance-processes.ts'
import { createInstanceRecords, type InstanceRecord, type InstanceRecords } from './instance-record.ts'
import { groupFolders, removeGroups } from './limits/control-groups.ts'
import { describeMissingLimits, findLimitSupport, type LimitSupport } from './limits/limit-support.ts'
import type { InstalledPackage } from './packages/installed-package.ts'
import { prepareLaunch } from './prepare-launch.ts'
import { probeHost } from './probe-host.ts'
import { endGroup } from './process-group.ts'
import { readUsage } from './process-usage.ts'
import { createInstanceReader, groupOf, type InstanceReader, LOOPBACK } from './read-instances.ts'
import { createSandboxNetworks } from './sandbox-network.ts'
import { type Bell, createBell, watchInstances } from './watch-instances.ts'

const RUNTIME = 'process'
const LOCK_SECONDS = 60

/** Stands for bubblewrap when the user does not want a sandbox. */
const UNWANTED: Bubblewrap = {
  works: false,
  problem: 'it runs without a sandbox (--no-sandbox)',
  hint: 'Omit --no-sandbox, or use docker or podman (`--runtime docker`).',
}

export interface ProcessRuntimeOptions {
  /** Where instances are kept, one folder each. */
  readonly folder: string
  /** Where the sockets of isolated instances are: a short path. */
  readonly sockets: string
  readonly packages: PackageStore & {
    resolve(image: string, options?: WaitOptions): Promise<InstalledPackage>
  }
  /** Called once, on first use. */
  readonly bubblewrap: () => Promise<Bubblewrap>
  /** PATH of instances that run without a sandbox. */
  readonly path: string
}

/** What the methods of the runtime share. */
interface Parts {
  readonly options: ProcessRuntimeOptions
  readonly records: InstanceRecords
  readonly processes: InstanceProcesses
  readonly instances: InstanceReader
  readonly bell: Bell
  readonly bubblewrap: () => Promise<Bubblewrap>
  readonly limitSupport: () => Promise<LimitSupport>
}

/**
 * Runs packages as processes of this host.
 *
 * The environment of an instance stays in the memory of the process that created it and never
 * reaches the disk; so only that process can start it, and after its death the instance has to be
 * created again (`process_forgotten`). Everything else works from any process: a running instance is
 * found again by its recorded process identity.
 */
export function createProcessRuntime(options: ProcessRuntimeOptions): Runtime {
  const parts = createParts(options)
  const { records, instances, bell, bubblewrap, limitSupport } = parts
  return {
    name: RUNTIME,
    rank: 1000, // a last resort: engines isolate more
    packages: options.packages,
    isolation: createSandboxNetworks({ root: options.sockets, bubblewrap }),
    probe: async () => probeHost(await bubblewrap(), await limitSupport(), options.path),

    async sandbox() {
      const found = await bubblewrap()
      return found.works ? { ok: true } : { ok: false, problem: noSandbox(found.problem), hint: found.hint }
    },

    missingLimits: async limits => describeMissingLimits(await limitSupport(), limits),

    create: (spec, wait = {}) => create(parts, spec, wait),
    start: name => withInstanceLock(records, name, () => start(parts, name)),
    attach: name => withInstanceLock(records, name, () => attach(parts, name)),

    async stop(name, { graceSeconds = STOP_GRACE_SECONDS } = {}) {
      const record = await records.read(name)
      const group = record && groupOf(record)
      if (!group) return
      await endGroup(group, graceSeconds * 1000)
      bell.ring()
    },

    async remove(name) {
      await withInstanceLock(records, name, () => clear(parts, name))
      bell.ring()
    },

    inspect: instances.find,
    list: instances.list,

    async usage(names) {
      const found = await Promise.all(names.map(async name => [name, await records.read(name)] as const))
      const leaders = found.flatMap(([name, record]) => {
        const leader = Number.parseInt(record?.process?.identity ?? '', 10)
        return leader ? [[name, leader] as const] : []
      })
      return readUsage(new Map(leaders))
    },

    async logs(name, { follow, lines, signal } = {}) {
      await get(records, name)
      const isLive = async () => (await instances.find(name))?.state === 'running'
      return readLog(records.log(name), { follow, lines, signal, isLive })
    },

    watch: signal => watchInstances({ list: () => listAndCapLogs(parts), bell, signal }),
  }
}

function createParts(options: ProcessRuntimeOptions): Parts {
  const records = createInstanceRecords(options.folder)
  const bell = createBell()
  let asked: Promise<Bubblewrap> | undefined
  let support: Promise<LimitSupport> | undefined
  const bubblewrap = () => {
    asked ??= options.bubblewrap()
    return asked
  }
  const limitSupport = () => {
    support ??= findLimitSupport()
    return support
  }
  const processes = createInstanceProcesses({ records, limitSupport, onChange: bell.ring })
  const instances = createInstanceReader({ records, processes, sockets: options.sockets })
  return { options, records, processes, instances, bell, bubblewrap, limitSupport }
}

const withInstanceLock = <T>(records: InstanceRecords, name: string, work: () => Promise<T>): Promise<T> =>
  withFileLock(records.lock(name), work, { seconds: LOCK_SECONDS })

async function get(records: InstanceRecords, name: string): Promise<InstanceRecord> {
  const record = await records.read(name)
  if (!record) throw runtimeFailures.instance_missing({ runtime: RUNTIME, name })
  return record
}

async function clear({ records, processes }: Parts, name: string): Promise<void> {
  // An instance whose record cannot be read must be removable too.
  const record = await records.read(name).catch(() => undefined)
  const group = record && groupOf(record)
  if (group) await endGroup(group, 0)
  processes.forget(name)
  await removeGroups(record?.groups ?? [])
  await records.remove(name)
}

async function create(parts: Parts, spec: InstanceSpec, wait: WaitOptions): Promise<void> {
  const { options, records, processes, bell } = parts
  const { name } = spec
  const bubblewrap: Bubblewrap = spec.noSandbox ? UNWANTED : await parts.bubblewrap()
  await assertRunnable(spec, bubblewrap)
  const installed = await options.packages.resolve(spec.image, wait)
  const [program = ''] = installed.command
  if (!(await isExecutable(program))) {
    throw failures.process_start_failed({ name, problem: `${program} cannot be executed.` })
  }
  await withInstanceLock(records, name, async () => {
    wait.signal?.throwIfAborted()
    await clear(parts, name)
    const id = randomUUID()
    const limitSupport = await parts.limitSupport()
    await records.write({
      id,
      name,
      image: spec.image,
      labels: { ...spec.labels },
      stdio: spec.stdio,
      sandboxed: bubblewrap.works,
      ports: spec.ports.map(port => port.instancePort),
      ...(spec.isolatedNetwork ? { enclosed: true } : {}),
      groups: groupFolders(limitSupport.groups, id),
      created_at: new Date().toISOString(),
    })
    const { sockets, path } = options
    const home = records.home(name)
    const context = { id, installed, bubblewrap, limitSupport, home, sockets, path }
    processes.prepare(name, await prepareLaunch(spec, context))
  })
  bell.ring()
}

async function start({ records, processes, instances }: Parts, name: string): Promise<void> {
  const record = await get(records, name)
  if ((await instances.read(record)).state === 'running') return
  for (const port of record.enclosed ? [] : record.ports) {
    if (!(await isPortFree(port, LOOPBACK))) {
      const address = `${LOOPBACK}:${port}`
      throw runtimeFailures.instance_port_busy({ runtime: RUNTIME, name, address })
    }
  }
  await capLog(records.log(name))
  const log = await open(records.log(name), 'a', 0o600)
  try {
    const { child } = await processes.start(record, { file: log.fd })
    child.unref()
  } finally {
    await log.close()
  }
}

async function attach({ records, processes }: Parts, name: string) {
  const record = await get(records, name)
  const group = groupOf(record)
  // Its streams belong to another process, or to an attachment that was closed.
  if (group) await endGroup(group, 1000)
  const log = await openLogWriter(records.log(name))
  try {
    const { child, exit } = await processes.start(record, 'pipes')
    return toAttachment(child, { exit, log })
  } catch (error) {
    log.destroy()
    throw error
  }
}

async function listAndCapLogs({ records, instances }: Parts) {
  try {
    for (const name of await records.names()) await capLog(records.log(name))
  } catch {
    // the log is not worth missing an event
  }
  return instances.list()
}
