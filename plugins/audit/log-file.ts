import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { openHashChain } from './hash-chain.ts'
import type { LogSettings } from './settings.ts'

/** The file that lines are appended to. Each line is in the kernel when `append` returns. */
export interface LogFile {
  /** Appends one line, made by `toLine` of what it has to say of the chain. Throws when it cannot be written whole. */
  append(toLine: (chain: { seq: number; prev: string } | undefined) => string): void
  /** Throws when the file cannot be opened. */
  probe(): void
  /** Closes the file; the next line opens it again. */
  release(): void
  close(): void
}

export const STDOUT = '/dev/stdout'
/** How often it is looked whether the path still leads to the open file, in milliseconds. */
const LOOK_MS = 1000
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK

interface OpenFile {
  readonly fd: number
  /** Whether it is a file of bounded size, not a pipe or a device. */
  readonly isRegular: boolean
  readonly inode: bigint
  size: number
}

/** Several processes may append to one file, unless it has a hash chain. */
export function createLogFile({ path, maxFileSize, maxFiles, hashChain }: LogSettings): LogFile {
  const chain = hashChain ? openHashChain(path) : undefined
  let file: OpenFile | undefined
  let lookedAt = 0
  /** Whether the file ends inside a line. */
  let isTorn = false

  function release(): void {
    if (file && file.fd !== 1) closeSync(file.fd)
    file = undefined
  }

  function current(): OpenFile {
    const now = Date.now()
    if (file && now - lookedAt >= LOOK_MS && path !== STDOUT) {
      lookedAt = now
      if (statSync(path, { bigint: true, throwIfNoEntry: false })?.ino !== file.inode) release()
      else file.size = fstatSync(file.fd).size // others may append to it, too
    }
    if (!file) {
      file = open(path)
      isTorn = file.isRegular && file.size > 0 && !endsWithLine(path, file.size)
      lookedAt = now
    }
    return file
  }

  function rotate(): void {
    release()
    renameSync(path, nameOfPast(path))
    if (maxFiles !== undefined) removeOldest(path, maxFiles)
  }

  return {
    append(toLine) {
      let to = current()
      const line = toLine(chain?.next())
      const bytes = Buffer.from(isTorn ? `\n${line}\n` : `${line}\n`)
      if (to.isRegular && to.size > 0 && to.size + bytes.length > maxFileSize) {
        rotate()
        to = current()
      }
      const before = chain && fstatSync(to.fd).size
      try {
        writeWhole(to.fd, bytes)
      } catch (error) {
        // Only a file that is ours alone can be cut; the line of another process would go with it.
        if (before !== undefined && to.isRegular) ftruncateSync(to.fd, before)
        else isTorn = isTorn || error instanceof TornWrite
        throw error instanceof TornWrite ? error.cause : error
      }
      isTorn = false
      to.size += bytes.length
      chain?.add(line)
    },
    probe: () => void current(),
    release,
    close() {
      release()
      chain?.close()
    },
  }
}

function open(path: string): OpenFile {
  const fd = path === STDOUT ? 1 : openSync(path, APPEND, 0o600)
  const stat = fstatSync(fd, { bigint: true })
  const isRegular = stat.isFile() && fd !== 1
  if (isRegular && stat.mode & 0o077n && stat.uid === BigInt(process.getuid?.() ?? -1)) fchmodSync(fd, 0o600)
  return { fd, isRegular, inode: stat.ino, size: Number(stat.size) }
}

/** Whether the last byte is a line feed; true where that cannot be found out. */
function endsWithLine(path: string, size: number): boolean {
  let fd: number | undefined
  try {
    fd = openSync(path, 'r')
    const last = Buffer.alloc(1)
    return readSync(fd, last, 0, 1, size - 1) < 1 || last[0] === 0x0a
  } catch {
    return true
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** Only a part of a line was written. */
class TornWrite extends Error {}

function writeWhole(fd: number, bytes: Buffer): void {
  let written = 0
  while (written < bytes.length) {
    try {
      written += writeSync(fd, bytes, written)
    } catch (error) {
      if (written === 0) throw error
      throw new TornWrite('only a part of a line was written', { cause: error })
    }
  }
}

const PAST = /^\d{8}T\d{9}Z(?:-\d+)?$/

/** A name for a file that is full: the time, or one behind that of the newest file, so that names sort by age. */
function nameOfPast(path: string): string {
  const newest = pastFiles(path).at(-1)
  const name = nameAt(path, Date.now())
  return newest === undefined || name > newest ? name : nameAt(path, timeOf(newest) + 1)
}

const nameAt = (path: string, time: number): string =>
  `${path}.${new Date(time).toISOString().replace(/[-:.]/g, '')}`

/** The time in the name of a file that is full. */
function timeOf(name: string): number {
  const [, day = '', hours, minutes, seconds, millis] =
    /(\d{8})T(\d\d)(\d\d)(\d\d)(\d{3})Z(?:-\d+)?$/.exec(name) ?? []
  const date = day.replace(/(\d{4})(\d\d)(\d\d)/, '$1-$2-$3')
  return Date.parse(`${date}T${hours}:${minutes}:${seconds}.${millis}Z`)
}

/** The files of a log that were full, oldest first. */
export function pastFiles(path: string): string[] {
  const prefix = `${basename(path)}.`
  return readdirSync(dirname(path))
    .filter(name => name.startsWith(prefix) && PAST.test(name.slice(prefix.length)))
    .sort()
    .map(name => join(dirname(path), name))
}

function removeOldest(path: string, kept: number): void {
  for (const past of pastFiles(path).slice(0, -kept)) rmSync(past, { force: true })
}
