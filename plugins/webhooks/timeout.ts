import { parseDuration } from '../../src/lib/duration.ts'
import type { Schema } from '../../src/lib/schema.ts'
import type { WebhookConfig } from './webhook-members.ts'

const DEFAULT_MS = 10_000
const SHORTEST_MS = 1000
const LONGEST_MS = 30_000

/** The schema of the time as ToolHive writes it; 0 stands for none. */
export const nanoseconds: Schema<number> = { type: 'integer', minimum: 0, maximum: LONGEST_MS * 1e6 }

/** The longest time for an answer in milliseconds; undefined where the run config says what is not allowed. */
export function timeoutOf({ timeout }: Pick<WebhookConfig, 'timeout'>): number | undefined {
  if (!timeout) return DEFAULT_MS
  const ms = typeof timeout === 'number' ? timeout / 1e6 : parseDuration(timeout)
  if (ms === 0) return DEFAULT_MS
  return ms !== undefined && ms >= SHORTEST_MS && ms <= LONGEST_MS ? ms : undefined
}
