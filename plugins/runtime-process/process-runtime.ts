import { randomUUID } from 'node:crypto'
import { open } from 'node:fs/promises'
import { delimiter, dirname } from 'node:path'
import type {
  Exit,
  Instance,
  InstanceSpec,
  Limits,
  PackageStore,
  Runtime,
  WaitOptions,
} from '../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import { isPortFree } from '../../src/lib/ports.ts'
import { isRunning, processIdentity } from '../../src/lib/process-identity.ts'
import { withFileLock } from '../../src/with-file-lock.ts'
import { assertRunnable, noSandbox } from './assert-runnable.ts'
import { describeExit, toAttachment } from './attachment.ts'
import { failures } from './failures.ts'
import type { Bubblewrap } from './find-bubblewrap.ts'
import { isExecutable } from './find-on-path.ts'
import { capLog, openLogWriter, readLog } from './instance-log.ts'
import { createInstanceRecords, type InstanceRecord } from './instance-record.ts'
import { type Launch, type Launched, launch } from './launch-process.ts'
import { enterGroups, groupFolders, removeGroups } from './limits/control-groups.ts'
import {
  describeMissingLimits,
  findLimitSupport,
  type LimitSupport,
  processLimits,
  withDefaultLimits,
  withProcessLimits,
} from './limits/limit-support.ts'
import type { InstalledPackage } from './packages/installed-package.ts'
import { probeHost } from './probe-host.ts'
import { endGroup, type Group, killLeftovers, MARK } from './process-group.ts'
import { HOME, sandboxCommand } from './sandbox.ts'
import { createSandboxNetworks, networkFiles, portAccessOf } from './sandbox-network.ts'
import { seccompFilter } from './seccomp/seccomp-filter.ts'
import { starterCommand, starterInput } from './starter.ts'
import { createBell, watchInstances } from './watch-instances.ts'

const RUNTIME = 'process'
const GRACE_SECONDS = 10
const LOCK_SECONDS = 60
const LOOPBACK = '127.0.0.1'
const SANDBOX_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** Stands for bubblewrap when the user does not want a sandbox. */
const UNWANTED: Bubblewrap = {
  works: false,
  problem: 'it runs without a sandbox (--no-sandbox)',
  hint: 'Omit --no-sandbox, or use docker or podman (`--runtime docker`).',
}

/** What `start` needs and the disk does not know. */
interface Prepared extends Pick<Launch, 'command' | 'env' | 'input' | 'seccomp'> {
  readonly id: string
  readonly limits: Required<Limits>
}

export interface ProcessRuntimeOptions {
  /** Where instances are kept, one folder each. */
  readonly folder: string
  /** Where the sockets of isolated instances are: a short path. */
  readonly sockets: string
  readonly packages: PackageStore & {
    resolve(image: string, options?: WaitOptions): Promise<InstalledPackage>
  }
  /** Asked once, on first need. */
  readonly bubblewrap: () => Promise<Bubblewrap>
  /** PATH of instances that run without a sandbox. */
  readonly path: string
}

/**
 * Runs packages as processes of this host.
 *
 * The environment of an instance stays in the memory of the process that created it and never
 * reaches the disk; so only that process can start it, and after its death the instance has to be
 * made anew (`process_forgotten`). Everything else works from any process: a running instance is
 * found again by its recorded process identity.
 */
export function createProcessRuntime(options: ProcessRuntimeOptions): Runtime {
  const { packages, path } = options
  const records = createInstanceRecords(options.folder)
  const prepared = new Map<string, Prepared>()
  /** Ends of our own children, by identity: they are waited for, so that an end is never half told. */
  const ends = new Map<string, Promise<Exit>>()
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

  const alone = <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const lock = records.lock(name)
    return withFileLock(lock, work, { seconds: LOCK_SECONDS })
  }

  async function get(name: string): Promise<InstanceRecord> {
    const record = await records.read(name)
    if (!record) throw runtimeFailures.instance_missing({ runtime: RUNTIME, name })
    return record
  }

  const groupOf = ({ id, sandboxed, process: leader }: InstanceRecord): Group | undefined =>
    leader && { leader: leader.identity, mark: id, sandboxed }

  /** One whose streams were held by a process that is gone can serve nobody any more. */
  const isOrphan = ({ process: leader }: InstanceRecord): boolean =>
    leader?.owner !== undefined && !isRunning(leader.owner)

  async function toInstance(record: InstanceRecord): Promise<Instance> {
    const group = groupOf(record)
    if (group && isOrphan(record) && isRunning(group.leader)) await endGroup(group, 0)
    const running = group !== undefined && isRunning(group.leader)
    if (group && !running) await ends.get(group.leader)
    const exit = group && !running ? await records.readExit(record.name, group.leader) : undefined
    const reason = group && !running ? (exit ? exit.reason : 'nobody was there to see it end') : undefined
    return {
      name: record.name,
      id: record.id,
      image: record.image,
      state: running ? 'running' : group ? 'exited' : 'created',
      labels: record.labels,
      ports:
        running && !record.enclosed
          ? record.ports.map(port => ({ instancePort: port, hostPort: port, address: LOOPBACK }))
          : [],
      ...(running && record.enclosed
        ? { portAccess: portAccessOf(options.sockets, record.name, record.ports) }
        : {}),
      createdAt: new Date(record.created_at),
      ...(record.process ? { startedAt: new Date(record.process.started_at) } : {}),
      ...(exit?.code === undefined ? {} : { exitCode: exit.code }),
      ...(reason ? { reason } : {}),
    }
  }

  async function inspect(name: string): Promise<Instance | undefined> {
    const record = await records.read(name)
    return record && toInstance(record)
  }

  async function list(): Promise<Instance[]> {
    const found = await Promise.all(
      // A record that cannot be read must not hide the others.
      (await records.names()).map(name => inspect(name).catch(() => undefined)),
    )
    return found.filter(instance => instance !== undefined)
  }

  async function clear(name: string): Promise<void> {
    // Even one that cannot be read any more has to go.
    const record = await records.read(name).catch(() => undefined)
    const group = record && groupOf(record)
    if (group) await endGroup(group, 0)
    prepared.delete(name)
    await removeGroups(record?.groups ?? [])
    await records.remove(name)
  }

  /** Starts the process of an instance and takes note of its end. */
  async function run(
    record: InstanceRecord,
    streams: 'pipes' | { readonly file: number },
  ): Promise<Launched & { exit: Promise<Exit> }> {
    const { name } = record
    const ready = prepared.get(name)
    if (ready?.id !== record.id) throw failures.process_forgotten({ name })
    const owner = streams === 'pipes' ? processIdentity(process.pid) : undefined
    let launched: Launched
    try {
      launched = await launch({
        ...ready,
        cwd: records.home(name),
        streams,
        record: async (identity, pid) => {
          await records.write({
            ...record,
            process: { identity, started_at: new Date().toISOString(), ...(owner ? { owner } : {}) },
          })
          await enterGroups((await limitSupport()).groups, { id: record.id, limits: ready.limits, pid })
        },
      })
    } catch (error) {
      if (isFailure(error)) throw error
      throw failures.process_start_failed({ name, problem: messageOf(error) }, { cause: error })
    }
    const { child, identity } = launched
    const exit = new Promise<Exit>(resolve => {
      child.once('exit', (code, signal) => {
        const end = describeExit(code, signal)
        const note = async () => {
          await killLeftovers({ leader: identity, mark: record.id, sandboxed: record.sandboxed })
          await records.writeExit(name, { identity, ...end })
        }
        void note()
          .catch(() => undefined)
          .finally(() => {
            resolve(end)
            ends.delete(identity)
            bell.ring()
          })
      })
    })
    ends.set(identity, exit)
    bell.ring()
    return { ...launched, exit }
  }

  return {
    name: RUNTIME,
    rank: 1000, // a last resort: engines isolate more
    packages,
    isolation: createSandboxNetworks({ root: options.sockets, bubblewrap }),
    probe: async () => probeHost(await bubblewrap(), await limitSupport(), path),

    async sandbox() {
      const found = await bubblewrap()
      return found.works ? { ok: true } : { ok: false, problem: noSandbox(found.problem), hint: found.hint }
    },

    missingLimits: async limits => describeMissingLimits(await limitSupport(), limits),

    async create(spec, wait = {}) {
      const found: Bubblewrap = spec.noSandbox ? UNWANTED : await bubblewrap()
      await assertRunnable(spec, found)
      const installed = await packages.resolve(spec.image, wait)
      const [program = ''] = installed.command
      if (!(await isExecutable(program))) {
        throw failures.process_start_failed({ name: spec.name, problem: `${program} cannot be executed.` })
      }
      const { name } = spec
      await alone(name, async () => {
        wait.signal?.throwIfAborted()
        await clear(name)
        const id = randomUUID()
        await records.write({
          id,
          name,
          image: spec.image,
          labels: { ...spec.labels },
          stdio: spec.stdio,
          sandboxed: found.works,
          ports: spec.ports.map(port => port.instancePort),
          ...(spec.isolatedNetwork ? { enclosed: true } : {}),
          groups: groupFolders((await limitSupport()).groups, id),
          created_at: new Date().toISOString(),
        })
        prepared.set(name, await prepare(spec, { id, installed, bubblewrap: found }))
      })
      bell.ring()
    },

    start: name =>
      alone(name, async () => {
        const record = await get(name)
        if ((await toInstance(record)).state === 'running') return
        for (const port of record.enclosed ? [] : record.ports) {
          if (!(await isPortFree(port, LOOPBACK))) {
            const address = `${LOOPBACK}:${port}`
            throw runtimeFailures.instance_port_busy({ runtime: RUNTIME, name, address })
          }
        }
        await capLog(records.log(name))
        const log = await open(records.log(name), 'a', 0o600)
        try {
          const { child } = await run(record, { file: log.fd })
          child.unref()
        } finally {
          await log.close()
        }
      }),

    attach: name =>
      alone(name, async () => {
        const record = await get(name)
        const group = groupOf(record)
        // Its streams belong to somebody else, or to an attachment that was let go.
        if (group) await endGroup(group, 1000)
        const log = await openLogWriter(records.log(name))
        try {
          const { child, exit } = await run(record, 'pipes')
          return toAttachment(child, { exit, log })
        } catch (error) {
          log.destroy()
          throw error
        }
      }),

    async stop(name, { graceSeconds = GRACE_SECONDS } = {}) {
      const record = await records.read(name)
      const group = record && groupOf(record)
      if (!group) return
      await endGroup(group, graceSeconds * 1000)
      bell.ring()
    },

    async remove(name) {
      await alone(name, () => clear(name))
      bell.ring()
    },

    inspect,
    list,

    async logs(name, { follow, lines, signal } = {}) {
      await get(name)
      const isLive = async () => (await inspect(name))?.state === 'running'
      return readLog(records.log(name), { follow, lines, signal, isLive })
    },

    watch(signal) {
      const capAll = async () => {
        for (const name of await records.names()) await capLog(records.log(name))
      }
      const look = async () => {
        await capAll().catch(() => undefined) // the log is not worth missing an event
        return list()
      }
      return watchInstances({ list: look, bell, signal })
    },
  }

  async function prepare(
    spec: InstanceSpec,
    { id, installed, bubblewrap: found }: { id: string; installed: InstalledPackage; bubblewrap: Bubblewrap },
  ): Promise<Prepared> {
    const home = records.home(spec.name)
    const node = dirname(process.execPath)
    const { sockets } = networkFiles(options.sockets, spec.name)
    const limits = withDefaultLimits(spec.limits)
    const own = processLimits(await limitSupport(), { limits, sandboxed: found.works })
    const seccomp = found.works ? seccompFilter() : undefined
    return {
      id,
      limits,
      seccomp,
      env: { [MARK]: id },
      command: found.works
        ? await sandboxCommand(spec, {
            bubblewrap: found,
            installed,
            home,
            sockets,
            limits: own,
            filtered: seccomp !== undefined,
          })
        : withProcessLimits(starterCommand(), own),
      input: starterInput({
        command: [...installed.command, ...spec.args],
        env: {
          PATH: [node, ...(found.works ? SANDBOX_PATH : [path])].join(delimiter),
          HOME: found.works ? HOME : home,
          LANG: 'C.UTF-8',
          ...spec.env,
          [MARK]: id,
        },
        agentFor: spec.isolatedNetwork && spec.ports.map(port => port.instancePort),
      }),
    }
  }
}
