import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { isMissing } from '../../src/lib/atomic-file.ts'
import {
  type ChainState,
  chainFileOf,
  chainOf,
  FIRST,
  formatChain,
  hashOfLine,
  parseChain,
} from './line-hash.ts'

/** The chain of one log, across its files and across restarts. */
export interface HashChain {
  /** What the next line says of the chain. */
  next(): { seq: number; prev: string }
  /** The line was written. */
  add(line: string): void
  close(): void
}

/**
 * Continues the chain of a log. Of the file beside the log and the last line of the log the further one counts: after a
 * kill the former is one line behind, and after lines were taken away the latter is.
 */
export function openHashChain(path: string): HashChain {
  const kept = readKept(path)
  const last = readLast(path)
  let state: ChainState = { lines: 0, hash: FIRST }
  if (kept) state = kept
  if (last && last.lines >= state.lines) state = last
  const fd = openSync(chainFileOf(path), 'a+', 0o600)
  closeSync(fd)
  const inPlace = openSync(chainFileOf(path), 'r+')
  keep()

  function keep(): void {
    writeSync(inPlace, formatChain(state), 0)
  }

  return {
    next: () => ({ seq: state.lines + 1, prev: state.hash }),
    add(line) {
      state = { lines: state.lines + 1, hash: hashOfLine(line) }
      keep()
    },
    close: () => closeSync(inPlace),
  }
}

function readKept(path: string): ChainState | undefined {
  try {
    return parseChain(readFileSync(chainFileOf(path), 'utf8'))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Lines are shorter than this, whatever `maxDataSize` is. */
const TAIL_BYTES = 64 * 1024 * 1024
const STEP = 64 * 1024

/** The last whole line of a file. What follows it was being written when its process ended, and is removed. */
function readLast(path: string): ChainState | undefined {
  let fd: number
  try {
    fd = openSync(path, 'r+')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  try {
    const { text, from } = readTail(fd, path)
    const end = text.lastIndexOf(0x0a)
    if (end + 1 < text.length) ftruncateSync(fd, from + end + 1)
    if (end < 0) return undefined
    const line = text.subarray(text.lastIndexOf(0x0a, end - 1) + 1, end)
    const chain = chainOf(line.toString('utf8'))
    return chain && { lines: chain.seq, hash: hashOfLine(line) }
  } finally {
    closeSync(fd)
  }
}

/** Reads from the end until two line feeds are there. */
function readTail(fd: number, path: string): { text: Buffer; from: number } {
  let from = fstatSync(fd).size
  let text = Buffer.alloc(0)
  while (from > 0 && text.length < TAIL_BYTES) {
    const length = Math.min(STEP, from)
    from -= length
    const part = Buffer.alloc(length)
    if (readSync(fd, part, 0, length, from) < length) throw new Error(`${path} became shorter`)
    text = Buffer.concat([part, text])
    const end = text.lastIndexOf(0x0a)
    if (end > 0 && text.lastIndexOf(0x0a, end - 1) >= 0) break
  }
  return { text, from }
}
