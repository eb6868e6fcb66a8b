import { isObject } from '../../src/lib/is-object.ts'
import { toLine } from './event-line.ts'

/** The most bytes of an event: a datagram of UDP holds no more beside the header of RFC 5424. */
export const LONGEST_LINE = 65_000

/** What every event says in few bytes. */
const CORE = ['time', 'level', 'msg', 'audit_id', 'type', 'phase', 'logged_at', 'outcome', 'component']

/**
 * An event as one line for a syslog. One that is too long goes without its `data`, or with its core alone; `syslog_cut`
 * in `metadata.extra` names what it lacks, and `syslog_bytes` says how long it was.
 */
export function toSyslogLine(event: object): string {
  const line = toLine(event)
  const bytes = Buffer.byteLength(line)
  if (bytes <= LONGEST_LINE) return line
  const { data: _, metadata, ...rest }: Readonly<Record<string, unknown>> = { ...event }
  const extra = isObject(metadata) && isObject(metadata.extra) ? metadata.extra : {}
  const without = (syslog_cut: string, kept: object) => ({ ...kept, syslog_cut, syslog_bytes: bytes })
  const shorter = toLine({ ...rest, metadata: { extra: without('data', extra) } })
  if (Buffer.byteLength(shorter) <= LONGEST_LINE) return shorter
  const core = Object.fromEntries(CORE.flatMap(name => (name in rest ? [[name, rest[name]]] : [])))
  return toLine({ ...core, metadata: { extra: without('all but its core', {}) } })
}
