import type { Readable } from 'node:stream'
import type { Runtime } from '../../../src/contracts/runtime.ts'
import { redact, redactValues } from '../../../src/lib/redact.ts'

const LINES = 20
const BYTES = 64 * 1024

/** The last log lines of an instance, without these secrets and anything that looks like one. Never fails. */
export async function readLastLines(
  runtime: Runtime,
  instance: string,
  secrets: readonly string[] = [],
): Promise<string[]> {
  const signal = AbortSignal.timeout(5000)
  let stream: Readable | undefined
  try {
    stream = await runtime.logs(instance, { lines: LINES, signal })
    let text = ''
    for await (const chunk of stream) text = (text + String(chunk)).slice(-BYTES)
    const lines = redactValues(text, secrets)
      .split(/\r?\n/)
      .filter(line => line.trim())
    return lines.slice(-LINES).map(line => redact(line.slice(0, 400)))
  } catch {
    return []
  } finally {
    stream?.destroy()
  }
}
