import { type FSWatcher, watch } from 'node:fs'
import { mkdir, open, readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { messageOf } from '../../src/errors.ts'
import type { EventSource, HttpEvent } from '../../src/http/api.ts'
import type { Log } from '../../src/log.ts'
import { toDenial } from './read-denials.ts'

/** Most bytes that are read of one burst of lines, so that a server that tries in a loop costs little. */
const MOST_BYTES = 262_144
/** Time in milliseconds to wait for further lines, since several are written together. */
const SETTLE_MS = 30

/**
 * Reports connections that were denied, in whatever process hosts the workload. It reads them from the log of
 * the workload's proxy and watches the log while there are subscribers. Earlier lines are not reported.
 */
export function createDenialFeed({ folder, log }: { folder: string; log: Log }): EventSource {
  const listeners = new Set<(event: HttpEvent) => void>()
  const read = new Map<string, number>()
  const changed = new Set<string>()
  let watcher: FSWatcher | undefined
  let timer: NodeJS.Timeout | undefined
  let reading = Promise.resolve()

  async function begin(): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const file of await readdir(folder))
      if (isLog(file)) read.set(file, await sizeOf(join(folder, file)))
    watcher = watch(folder, (_kind, file) => {
      if (!file || !isLog(file)) return
      changed.add(file)
      timer ??= setTimeout(() => {
        timer = undefined
        reading = reading.then(tellChanges)
      }, SETTLE_MS)
    })
    watcher.on('error', error => log.debug(`${folder} is no longer watched: ${error.message}`))
  }

  function end(): void {
    watcher?.close()
    clearTimeout(timer)
    watcher = undefined
    timer = undefined
    read.clear()
    changed.clear()
  }

  async function tellChanges(): Promise<void> {
    const files = [...changed]
    changed.clear()
    for (const file of files) {
      await tellNewLines(file).catch(error => log.debug(`${file} cannot be read: ${messageOf(error)}`))
    }
  }

  async function tellNewLines(file: string): Promise<void> {
    const path = join(folder, file)
    const size = await sizeOf(path)
    const before = read.get(file) ?? 0
    const start = Math.max(size < before ? 0 : before, size - MOST_BYTES) // shorter: a new file has begun
    const text = await textOf(path, start, size)
    const whole = text.lastIndexOf('\n') + 1
    read.set(file, start + Buffer.byteLength(text.slice(0, whole)))
    const workload = basename(file, '.log')
    for (const line of text.slice(0, whole).split('\n')) {
      const denial = toDenial(line)
      if (!denial) continue
      for (const hear of listeners) hear({ name: 'egress-denied', data: { ...denial, workload } })
    }
  }

  return {
    async subscribe(hear) {
      listeners.add(hear)
      if (listeners.size === 1)
        await begin().catch(error => log.debug(`Denials cannot be reported: ${messageOf(error)}`))
      return () => {
        if (listeners.delete(hear) && listeners.size === 0) end()
      }
    },
  }
}

const isLog = (file: string): boolean => file.endsWith('.log')

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )

async function textOf(path: string, start: number, end: number): Promise<string> {
  if (end <= start) return ''
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}
