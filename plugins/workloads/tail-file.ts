import { open, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { isMissing } from '../../src/lib/atomic-file.ts'

const POLL_MS = 100

/**
 * The content of a file, or its last bytes; with `follow` also what is appended, until the signal
 * aborts. A file that is not there is empty; one that became shorter (rotated) is read anew.
 */
export async function* tailFile(
  path: string,
  { follow, signal, lastBytes }: { follow: boolean; signal: AbortSignal; lastBytes?: number },
): AsyncGenerator<Buffer> {
  let position = lastBytes === undefined ? 0 : Math.max(0, (await sizeOf(path)) - lastBytes)
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
