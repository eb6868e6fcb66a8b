import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { withFileLock } from '../../src/with-file-lock.ts'
import type { Settings } from '../settings/index.ts'

/** The caller token. Only the user can read its file, so a caller that sends it acts for the user. */
export interface CallerToken {
  /** The file that holds it, readable for the user alone. */
  readonly path: string
  /** The token that callers must send; undefined: none. Fails when the file or the settings cannot be read. */
  required(): Promise<string | undefined>
  /** Creates a token and requires it. Fails with `locked`. */
  enable(): Promise<void>
  /** Deletes the token and requires none. Fails with `locked`. */
  disable(): Promise<void>
}

const LOCK_SECONDS = 5
const SHAPE = /^[A-Za-z0-9_-]{43}$/

const makeToken = (): string => randomBytes(32).toString('base64url')

export function createCallerToken(options: {
  state: string
  settings: () => Promise<Settings>
  /** Called when the token was created or deleted. */
  onChanged: () => Promise<void>
}): CallerToken {
  const path = join(options.state, 'caller-token')
  const lock = `${path}.lock`

  const locked = <T>(work: () => Promise<T>): Promise<T> =>
    withFileLock(lock, work, { seconds: LOCK_SECONDS })

  async function read(): Promise<string | undefined> {
    const text = (await readFileIfThere(path))?.trim()
    return text !== undefined && SHAPE.test(text) ? text : undefined
  }

  /** The token; a new one when there is none. The lock is held. */
  async function ensure(): Promise<string> {
    const there = await read()
    if (there !== undefined) return there
    const token = makeToken()
    await writeFileAtomic(path, `${token}\n`)
    return token
  }

  return {
    path,
    async required() {
      // An existing token is required even if the settings were lost.
      const there = await read()
      if (there !== undefined) return there
      const settings = await options.settings()
      return (await settings.get('caller_token')) === 'required' ? locked(ensure) : undefined
    },
    async enable() {
      const settings = await options.settings()
      await locked(async () => {
        await ensure()
        await settings.change(() => ({ caller_token: 'required' }))
      })
      await options.onChanged()
    },
    async disable() {
      const settings = await options.settings()
      await locked(async () => {
        await settings.change(() => ({ caller_token: undefined }))
        await rm(path, { force: true })
      })
      await options.onChanged()
    },
  }
}
