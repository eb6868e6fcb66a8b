import { createHash } from 'node:crypto'

/** What the first line of a chain has in place of the hash of a line before it. */
export const FIRST = '0'.repeat(64)

/** The hash of a line, without its line feed: SHA-256 in hexadecimal digits. */
export const hashOfLine = (line: string | Buffer): string => createHash('sha256').update(line).digest('hex')

/** Where a chain is: how many lines it has, and the hash of the last one. */
export interface ChainState {
  readonly lines: number
  readonly hash: string
}

/** The file beside a log that says where its chain is. */
export const chainFileOf = (path: string): string => `${path}.chain`

/** The state as it is kept: always as long, so that it is written in place. */
export const formatChain = ({ lines, hash }: ChainState): string =>
  `${JSON.stringify({ lines: String(lines).padStart(15, '0'), hash })}\n`

/** Reads a kept state; undefined when it is not one. */
export function parseChain(text: string): ChainState | undefined {
  const found = /^\{"lines":"(\d{15})","hash":"([0-9a-f]{64})"\}\n$/.exec(text)
  return found ? { lines: Number(found[1]), hash: found[2] as string } : undefined
}

/** What a line says of the chain; undefined when it is not a line of one. */
export function chainOf(line: string): { seq: number; prev: string } | undefined {
  try {
    const { chain } = JSON.parse(line)
    return Number.isSafeInteger(chain?.seq) && typeof chain.prev === 'string' ? chain : undefined
  } catch {
    return undefined
  }
}
