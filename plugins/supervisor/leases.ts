import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Lock, tryLock } from '../../src/lib/file-lock.ts'
import { isRunning, processIdentity } from '../../src/lib/process-identity.ts'
import { failures } from './failures.ts'

/** Which process hosts a workload: one file each in `<runtime>/leases`, free when its holder is dead. */
export interface Leases {
  /** Fails with `hosted_elsewhere` while another running process has it. */
  take(name: string): Promise<Lock>
  /** Process id of another running process that hosts the workload. */
  holder(name: string): Promise<number | undefined>
  /**
   * Asks the other process that hosts the workload to end, and waits for it. True when there was one.
   * The process is known by number and start time, so a process that reuses the number is never signalled.
   */
  evict(name: string): Promise<boolean>
}

export function createLeases(options: { folder: string; evictionMs?: number }): Leases {
  const { folder, evictionMs = 45_000 } = options
  const path = (name: string) => join(folder, name)

  async function identityOf(name: string): Promise<string | undefined> {
    const identity = await readFile(path(name), 'utf8').catch(() => '')
    const other = identity !== '' && identity !== processIdentity(process.pid) && isRunning(identity)
    return other ? identity : undefined
  }

  return {
    async take(name) {
      const lock = await tryLock(path(name))
      if (lock) return lock
      throw failures.hosted_elsewhere({
        name,
        pid: Number.parseInt((await identityOf(name)) ?? String(process.pid), 10),
      })
    },
    async holder(name) {
      const identity = await identityOf(name)
      return identity === undefined ? undefined : Number.parseInt(identity, 10)
    },
    async evict(name) {
      const identity = await identityOf(name)
      if (identity === undefined) return false
      const pid = Number.parseInt(identity, 10)
      process.kill(pid, 'SIGTERM')
      const deadline = Date.now() + evictionMs
      while ((await identityOf(name)) === identity) {
        if (Date.now() > deadline) throw failures.host_stays({ name, pid, seconds: evictionMs / 1000 })
        await delay(50)
      }
      return true
    },
  }
}
