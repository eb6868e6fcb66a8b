import { readFileSync } from 'node:fs'

/** Of the fields of `stat`; Linux has 100 ticks in a second. */
const MS_PER_TICK = 10

/** Processor time that a process has used, in milliseconds: fields 14 and 15 of proc(5) `stat`. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
}

/** Resident memory of a process, and the most that it has had, in MB: proc(5) `status`. */
export function residentMb(pid: number): { readonly now: number; readonly most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mb = (field: string) =>
    (Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / 1e6
  return { now: mb('VmRSS'), most: mb('VmHWM') }
}
