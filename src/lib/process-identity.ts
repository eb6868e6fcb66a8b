import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Names one process for good: its number and when it started, since numbers are reused.
 * Undefined when no such process runs (a zombie does not).
 */
export function processIdentity(pid: number): string | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  if (process.platform === 'linux') return fromProc(pid)
  if (!isAlive(pid)) return undefined
  if (process.platform === 'win32') return String(pid)
  try {
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    return started ? `${pid}@${started}` : undefined
  } catch {
    return undefined
  }
}

/** proc(5): field 3 of `stat` is the state, field 22 the start time in clock ticks since boot. */
function fromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `${pid}@${fields[19]}`
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Whether the process that had this identity still runs. */
export const isRunning = (identity: string): boolean =>
  processIdentity(Number.parseInt(identity, 10)) === identity
