import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../src/errors.ts'
import { type Lock, tryLock } from '../../src/lib/file-lock.ts'
import type { Log } from '../../src/log.ts'
import { toLine } from './event-line.ts'
import { failures } from './failures.ts'
import { createLogFile, type LogFile, STDOUT } from './log-file.ts'
import type { LogSettings } from './settings.ts'

/** Opens audit logs. Workloads of one process that name the same file share it. */
export interface AuditLogs {
  /** Fails with `audit_log_unwritable` or `audit_log_shared` where `open` would. Leaves an empty file at most. */
  check(settings: LogSettings): Promise<void>
  /** Fails with `audit_log_shared`. A file that cannot be opened now is tried again with each event. */
  open(settings: LogSettings, log: Log): Promise<AuditLog>
}

/** Where the events of one workload go. */
export interface AuditLog {
  /** Writes one event as one line. Undefined when it was written, else the reason. */
  write(event: object): string | undefined
  close(): void
}

const LOCK_MS = 5000

interface Shared {
  readonly settings: LogSettings
  write: AuditLog['write']
  release(): void
  users: number
  close(): Promise<void>
}

export function createAuditLogs(options: { now?: () => Date } = {}): AuditLogs {
  const { now = () => new Date() } = options
  /** By path. A promise, as several workloads start at once. */
  const shared = new Map<string, Promise<Shared>>()
  const reopen = () => {
    for (const one of shared.values()) void one.then(({ release }) => release()).catch(() => {})
  }

  async function share(settings: LogSettings, log: Log): Promise<Shared> {
    const { path, hashChain } = settings
    const before = await shared.get(path)
    if (before) {
      if (before.settings.hashChain === hashChain) return before
      throw failures.audit_log_shared({ path, problem: 'one workload wants a hash chain, another does not' })
    }
    const opening = open(settings, { log, now })
    shared.set(path, opening)
    if (shared.size === 1 && !isInTerminal()) process.on('SIGHUP', reopen)
    try {
      return await opening
    } catch (error) {
      shared.delete(path)
      throw error
    }
  }

  return {
    async check(settings) {
      const { path } = settings
      if (shared.has(path)) return
      prepareFolder(settings)
      try {
        const file = createLogFile({ ...settings, hashChain: false })
        file.probe()
        file.close()
      } catch (error) {
        throw failures.audit_log_unwritable({ path, problem: messageOf(error) }, { cause: error })
      }
    },
    async open(settings, log) {
      const one = await share(settings, log)
      one.users++
      let isOpen = true
      return {
        write: event => one.write(event),
        close() {
          if (!isOpen) return
          isOpen = false
          one.users--
          if (one.users > 0) return
          shared.delete(settings.path)
          if (shared.size === 0) process.off('SIGHUP', reopen)
          void one.close()
        },
      }
    },
  }
}

/** A terminal that closes sends SIGHUP, too, and the program ends then. */
const isInTerminal = (): boolean => process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY

function prepareFolder({ path, isOwn }: LogSettings): void {
  if (path === STDOUT) return
  const folder = dirname(path)
  if (isOwn) mkdirSync(folder, { recursive: true, mode: 0o700 })
  else if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw failures.audit_log_unwritable({ path, problem: `the folder ${folder} does not exist` })
  }
}

async function open(settings: LogSettings, { log, now }: { log: Log; now: () => Date }): Promise<Shared> {
  const { path, hashChain } = settings
  const lock = hashChain ? await takeLock(path) : undefined
  let file: LogFile | undefined
  let lost = 0

  const append = (event: object): void => {
    if (!file) {
      prepareFolder(settings)
      file = createLogFile(settings)
    }
    file.append(chain => toLine(chain ? { ...event, chain } : event))
  }

  return {
    settings,
    users: 0,
    write(event) {
      try {
        if (lost > 0) append(gapEvent(now(), lost))
        lost = 0
        append(event)
        return undefined
      } catch (error) {
        const problem = messageOf(error)
        if (lost === 0) log.error('The audit log cannot be written.', { path, error: problem })
        lost++
        return problem
      }
    },
    release: () => file?.release(),
    async close() {
      file?.close()
      await lock?.release()
    },
  }
}

/** Lines of several processes would not make one chain. A process or workload that is ending is waited for. */
async function takeLock(path: string): Promise<Lock> {
  const deadline = Date.now() + LOCK_MS
  for (;;) {
    const lock = await tryLock(`${path}.lock`)
    if (lock) return lock
    if (Date.now() > deadline) {
      throw failures.audit_log_shared({
        path,
        problem: 'it has a hash chain, and another process writes it',
      })
    }
    await delay(20)
  }
}

/** Says that events before it are missing. */
const gapEvent = (time: Date, lost: number) => ({
  time: time.toISOString(),
  level: 'AUDIT',
  msg: 'audit_event',
  audit_id: crypto.randomUUID(),
  type: 'audit_gap',
  logged_at: time.toISOString(),
  outcome: 'error',
  metadata: { extra: { lost_events: lost } },
})
