import { stat } from 'node:fs/promises'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { parseToken } from './parse-token.ts'

/** How old the last look at the file may be, in milliseconds. */
const LOOK_MS = 1000

/** A bearer token in a file that something else writes anew, for example before the token expires. */
export interface TokenFile {
  /** The token as last read. Looks at the file from time to time, without making the caller wait. */
  current(): string
  /** Looks now. True when the token is another one. */
  look(): Promise<boolean>
}

/** Fails with `file_missing`, `file_unreadable` or `bearer_token_wrong`; later problems are logged. */
export async function openTokenFile(
  path: string,
  { log, now = Date.now }: { log: Log; now?: () => number },
): Promise<TokenFile> {
  let token = parseToken(await readUserFile(path, 'The bearer token file'), path)
  let seen = await mark(path)
  let lookedAt = now()
  let looking: Promise<boolean> | undefined

  async function compare(): Promise<boolean> {
    try {
      const found = await mark(path)
      if (found === seen) return false
      const next = parseToken(await readUserFile(path, 'The bearer token file', { pipes: false }), path)
      seen = found
      const isOther = next !== token
      token = next
      return isOther
    } catch (error) {
      log.warn(`The bearer token is used as it was: ${messageOf(error)}`)
      return false
    }
  }

  function look(): Promise<boolean> {
    lookedAt = now()
    looking ??= compare().finally(() => {
      looking = undefined
    })
    return looking
  }

  return {
    current() {
      if (now() - lookedAt > LOOK_MS) void look()
      return token
    },
    look,
  }
}

/** Another one when the file was written, or replaced by another file. */
async function mark(path: string): Promise<string> {
  const { mtimeNs, ino, size } = await stat(path, { bigint: true })
  return `${mtimeNs} ${ino} ${size}`
}
