import { open, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { isMissing } from './atomic-file.ts'

const POLL_MS = 100

/**
 * The content of a file, or its last bytes or lines; with `follow` also what is appended, until the signal
 * aborts. A file that is not there is empty; one that became shorter (rotated) is read anew.
 */
export async function* tailFile(
  path: string,
  options: { follow: boolean; signal: AbortSignal; lastBytes?: number; lines?: number | undefined },
): AsyncGenerator<Buffer> {
  const { follow, signal, lastBytes, lines } = options
  let position = lastBytes === undefined ? 0 : Math.max(0, (await sizeOf(path)) - lastBytes)
  if (lines !== undefined) position = await startOfLast(path, lines)
  while (!signal.aborted) {
    for await (const chunk of readFrom(path, position)) {
      position = chunk.position
      yield chunk.bytes
    }
    if (!follow) return
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined)
  }
}

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )

/** Where the last lines of a file begin; 0 when there are no more. */
async function startOfLast(path: string, lines: number): Promise<number> {
  const starts: number[] = [0]
  for await (const { bytes, position } of readFrom(path, 0)) {
    const from = position - bytes.length
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
      starts.push(from + at + 1)
      if (starts.length > lines + 1) starts.shift()
    }
  }
  return starts.length > lines ? (starts[0] ?? 0) : 0
}

async function* readFrom(path: string, start: number): AsyncGenerator<{ bytes: Buffer; position: number }> {
  const file = await open(path).catch(error => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (!file) return
  try {
    let position = (await file.stat()).size < start ? 0 : start
    for (;;) {
      const { bytesRead, buffer } = await file.read({ position })
      if (bytesRead === 0) return
      position += bytesRead
      yield { bytes: buffer.subarray(0, bytesRead), position }
    }
  } finally {
    await file.close()
  }
}
