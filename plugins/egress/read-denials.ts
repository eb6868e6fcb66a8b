import { open } from 'node:fs/promises'
import { isMissing } from '../../src/lib/atomic-file.ts'

/** A line of the decision log about a connection that was denied, or about several. */
export interface Denial {
  /** When, as an RFC 3339 time. */
  readonly time: string
  /** Absent where there were too many destinations to name each. */
  readonly host?: string
  readonly port?: number
  readonly rule?: string
  readonly reason?: string
}

/** How much of the end of a log is read, in bytes. */
const MOST_BYTES = 262_144
const SAYS = /^egress denied/

/** The denied destinations in the log of a workload's proxy, each once, the last one first. */
export async function readDenials(path: string): Promise<Denial[]> {
  const lines = (await endOf(path)).split('\n').reverse()
  const byDestination = new Map<string, Denial>()
  for (const denial of lines.map(toDenial)) {
    if (denial?.host === undefined) continue
    const key = `${denial.port} ${denial.host}`
    // Only the first of several lines about one destination says the reason.
    byDestination.set(key, { ...denial, ...byDestination.get(key) })
  }
  return [...byDestination.values()]
}

async function endOf(path: string): Promise<string> {
  try {
    await using file = await open(path)
    const { size } = await file.stat()
    const start = Math.max(0, size - MOST_BYTES)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start)
    return buffer.toString('utf8', 0, bytesRead)
  } catch (error) {
    if (isMissing(error)) return ''
    throw error
  }
}

/** Reads only lines of the decision log. The server's own output is in the log as text inside other lines. */
export function toDenial(line: string): Denial | undefined {
  if (!line.includes('egress denied')) return undefined
  try {
    const entry: unknown = JSON.parse(line)
    if (typeof entry !== 'object' || entry === null || !('msg' in entry)) return undefined
    if (!SAYS.test(String(entry.msg))) return undefined
    const { level: _, msg: __, ...facts } = entry as Record<string, unknown>
    return facts as unknown as Denial
  } catch {
    return undefined
  }
}
