import type { Schema } from './schema.ts'
import { toTextCheck } from './text-schema.ts'

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

/** The schema of a duration. */
export const duration: Schema<string> = {
  type: 'string',
  pattern: '^(?:0|(?:\\d+(?:\\.\\d+)?(?:ns|us|\u00b5s|ms|s|m|h))+)$',
  description: 'A duration such as 30s or 1m30s',
}
const isDuration = toTextCheck(duration)

/** Reads `30s`, `2m30s`, `1.5h`, `0`; milliseconds, or undefined when the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0
  if (!isDuration(text)) return undefined
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|\u00b5s|ms|s|m|h)/g)) {
    total += Number(amount) * (UNITS[unit ?? ''] ?? 0)
  }
  return total
}

/** Writes milliseconds as Go does: `2h0m0s`, `1m30s`, `500ms`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return ms === 0 ? '0s' : `${ms}ms`
  const hours = Math.floor(ms / 3_600_000)
  const minutes = Math.floor((ms % 3_600_000) / 60_000)
  const seconds = (ms % 60_000) / 1000
  if (hours) return `${hours}h${minutes}m${seconds}s`
  return minutes ? `${minutes}m${seconds}s` : `${seconds}s`
}
