import { constants, createReadStream } from 'node:fs'
import { access, readFile, stat } from 'node:fs/promises'
import { isMissing } from '../../src/lib/atomic-file.ts'
import { failures } from './failures.ts'
import { chainFileOf, chainOf, FIRST, hashOfLine, parseChain } from './line-hash.ts'
import { pastFiles } from './log-file.ts'

/** What a check of a hash chain found. */
export interface Verdict {
  /** How many lines belong to the chain as it should be. */
  readonly lines: number
  /** Number of the first line in the chain; more than 1 where older files are gone. */
  readonly first: number
  /** Hash of the last line: whoever keeps it elsewhere knows later whether the log was written anew. */
  readonly hash: string | undefined
  /** The first line that does not fit; undefined when all do. */
  readonly broken?: { readonly file: string; readonly line: number; readonly problem: string }
  /** How many lines are missing at the end. */
  readonly missing: number
}

/** Checks a log with its files of the past, oldest first. Fails with `audit_log_missing`. */
export async function verifyLog(path: string): Promise<Verdict> {
  await assertReadable(path)
  let state: { seq: number; hash: string } | undefined
  let lines = 0
  let first = 0
  for (const file of [...pastFiles(path), path]) {
    let number = 0
    for await (const line of linesOf(file)) {
      number++
      const problem = problemOf(line.toString('utf8'), state)
      if (problem) {
        return { lines, first, hash: state?.hash, broken: { file, line: number, problem }, missing: 0 }
      }
      const { seq } = chainOf(line.toString('utf8')) as { seq: number }
      first ||= seq
      lines++
      state = { seq, hash: hashOfLine(line) }
    }
  }
  const kept = parseChain(await readFile(chainFileOf(path), 'utf8').catch(() => ''))
  const missing = Math.max(0, (kept?.lines ?? 0) - (state?.seq ?? 0))
  return { lines, first, hash: state?.hash, missing }
}

function problemOf(line: string, before: { seq: number; hash: string } | undefined): string | undefined {
  const chain = chainOf(line)
  if (!chain) return 'it belongs to no hash chain, as lines do that were written without hashChain'
  if (!before && chain.seq === 1 && chain.prev !== FIRST) return 'the first line names a line before it'
  if (before && chain.seq !== before.seq + 1) return `it has the number ${chain.seq} after ${before.seq}`
  if (before && chain.prev !== before.hash) return 'the line before it was changed'
  return undefined
}

async function assertReadable(path: string): Promise<void> {
  const wrong = (problem: string, cause?: unknown) => failures.audit_log_missing({ path, problem }, { cause })
  try {
    await access(path, constants.R_OK)
  } catch (error) {
    throw wrong(isMissing(error) ? 'there is no such file' : 'you are not allowed to', error)
  }
  if (!(await stat(path)).isFile()) throw wrong('it is not a file')
}

/** The lines of a file, the last one also without a line feed. */
async function* linesOf(path: string): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  for await (const chunk of createReadStream(path)) {
    let from = 0
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, from)) {
      yield Buffer.concat([...parts, chunk.subarray(from, at)])
      parts = []
      from = at + 1
    }
    if (from < chunk.length) parts.push(chunk.subarray(from))
  }
  if (parts.length) yield Buffer.concat(parts)
}
