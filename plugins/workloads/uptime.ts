import type { Workload } from '../../src/contracts/workload.ts'

/** `3d 4h 5m`, `4h 5m`, `5m` or `6s`; undefined when it does not run. */
export function formatUptime({ status, started_at }: Workload, now: number): string | undefined {
  if (status !== 'running' || !started_at) return undefined
  const seconds = Math.max(0, Math.floor((now - Date.parse(started_at)) / 1000))
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24, minutes % 60]
  if (days) return `${days}d ${hours}h ${rest}m`
  return hours ? `${hours}h ${rest}m` : `${rest}m`
}
