import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isMissing } from './atomic-file.ts'
import { isRunning, processIdentity } from './process-identity.ts'

const TRIES = 100

export interface Lock {
  release(): Promise<void>
}

/**
 * Takes a lock, which is a file. Undefined while another running process (or another caller in this one) has
 * it. The file names its holder, so the lock of a killed process is free.
 *
 * Ours because `proper-lockfile` tells a dead holder by age: a busy machine would lose its lock.
 *
 * The file appears by a hard link, with its content: there is no moment at which it names nobody.
 */
export async function tryLock(path: string): Promise<Lock | undefined> {
  const before = await read(path)
  if (before !== undefined && isRunning(before)) return undefined // the usual case while waiting
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const mine = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`
  await writeFile(mine, processIdentity(process.pid) ?? String(process.pid), { mode: 0o600, flag: 'wx' })
  try {
    for (let tries = 0; tries < TRIES; tries++) {
      if (await publish(mine, path)) return { release: () => rm(path, { force: true }) }
      const holder = await read(path)
      if (holder === undefined) continue // released just now; or a link that leads nowhere
      if (isRunning(holder) || !(await clear(path, holder, mine))) return undefined
    }
    return undefined
  } finally {
    await rm(mine, { force: true })
  }
}

/** Waits for the lock. `onTimeout` makes the error. */
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

/**
 * Removes the lock of a process that has ended; false when another running process is about to.
 *
 * Of two that saw the dead holder, the slower must not remove the faster one's new lock. So whoever wants to
 * remove it first claims the removal of this very holder's lock, and while the process of a claim runs, no
 * other process removes it. A claim whose process has ended is followed by a claim on top of it.
 */
async function clear(path: string, holder: string, mine: string): Promise<boolean> {
  const claims: string[] = []
  for (let dead = holder; ; ) {
    const claim = `${path}.${dead.replace(/[^\w@.+-]/g, '_')}.stale`
    claims.push(claim)
    if (await publish(mine, claim)) break
    const claimant = await read(claim)
    if (claimant === undefined || isRunning(claimant)) return false
    dead = `${dead}+${claimant}`
  }
  if ((await read(path)) === holder) await rm(path, { force: true })
  for (const claim of claims) await rm(claim, { force: true })
  return true
}

/** Makes a file appear with its content, unless one of that name is there. */
async function publish(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

async function read(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
