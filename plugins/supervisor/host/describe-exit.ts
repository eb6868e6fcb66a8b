import type { Readable } from 'node:stream'
import type { Exit, Instance, Runtime } from '../../../src/contracts/runtime.ts'
import { redact, redactValues } from '../../../src/lib/redact.ts'

/** How an instance ended, for a person. */
export function describeEnd({ code, reason }: Exit): string {
  const exit = code === undefined ? '' : `exit code ${code}`
  return [reason, exit].filter(Boolean).join(', ') || 'its streams closed'
}

export const describeInstance = ({ state, exitCode, reason }: Instance): string =>
  state === 'exited'
    ? describeEnd({ ...(exitCode === undefined ? {} : { code: exitCode }), ...(reason ? { reason } : {}) })
    : reason
      ? `${state}: ${reason}`
      : state

const LINES = 20
const BYTES = 64 * 1024

/** The last lines an instance wrote, without these secrets and what looks like one; none when nobody knows. */
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
