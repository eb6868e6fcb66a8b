import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isMissing } from './atomic-file.ts'
import { isRunning, processIdentity } from './process-identity.ts'

export interface Lock {
  release(): Promise<void>
}

/**
 * Takes a lock that lives in a file, or undefined when another live process (or another caller in
 * this one) has it. The file names its holder, so the lock of a killed process is free.
 */
export async function tryLock(path: string): Promise<Lock | undefined> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  for (let attempt = 0; attempt < 10; attempt++) {
    try {
      const file = await open(path, 'wx', 0o600)
      await file.writeFile(processIdentity(process.pid) ?? String(process.pid))
      await file.close()
      return { release: () => rm(path, { force: true }) }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    if (!(await isStale(path))) return undefined
    await clear(path)
  }
  return undefined
}

/** Waits for the lock. `onTimeout` makes the error; waiting ends early when the signal aborts. */
export async function withLock<T>(
  path: string,
  work: () => Promise<T>,
  options: { timeoutMs: number; onTimeout: () => Error },
): Promise<T> {
  const deadline = Date.now() + options.timeoutMs
  let lock = await tryLock(path)
  while (!lock) {
    if (Date.now() > deadline) throw options.onTimeout()
    await delay(5 + Math.random() * 20)
    lock = await tryLock(path)
  }
  try {
    return await work()
  } finally {
    await lock.release()
  }
}

/** An empty file belongs to somebody between creating and writing it; a kill in between leaves it for good. */
async function isStale(path: string): Promise<boolean> {
  const read = () =>
    readFile(path, 'utf8').catch(error => (isMissing(error) ? undefined : Promise.reject(error)))
  let holder = await read()
  for (let wait = 0; holder === '' && wait < 20; wait++) {
    await delay(10)
    holder = await read()
  }
  return holder !== undefined && !isRunning(holder)
}

/**
 * Takes a dead holder's file out of the way. Renamed first and looked at again, so that of two
 * processes that both saw the dead holder none removes the other's new lock.
 */
async function clear(path: string): Promise<void> {
  const aside = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}.stale`
  try {
    await rename(path, aside)
  } catch (error) {
    if (isMissing(error)) return
    throw error
  }
  const holder = await readFile(aside, 'utf8')
  if (holder !== '' && isRunning(holder)) await rename(aside, path).catch(() => undefined)
  else await rm(aside, { force: true })
}
