import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { failures as core } from '../../src/errors.ts'
import { readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { withLock } from '../../src/lib/file-lock.ts'
import type { Settings } from '../settings/index.ts'

/** The caller token: whoever can read its file is the user. */
export interface CallerToken {
  /** The file that holds it, readable for the user alone. */
  readonly path: string
  /** The token that callers have to bring; undefined: none. Fails where that cannot be read. */
  required(): Promise<string | undefined>
  /** Makes a token and requires it, or takes it away. Fails with `locked`. */
  require(on: boolean): Promise<void>
}

const LOCK_SECONDS = 5
const SHAPE = /^[A-Za-z0-9_-]{43}$/

const makeToken = (): string => randomBytes(32).toString('base64url')

export function createCallerToken(options: {
  state: string
  settings: () => Promise<Settings>
}): CallerToken {
  const path = join(options.state, 'caller-token')
  const lock = `${path}.lock`

  const locked = <T>(work: () => Promise<T>): Promise<T> =>
    withLock(lock, work, {
      timeoutMs: LOCK_SECONDS * 1000,
      onTimeout: () => core.locked({ path: lock, seconds: LOCK_SECONDS }),
    })

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
      // A token that is there is required, also where the settings have been lost.
      const there = await read()
      if (there !== undefined) return there
      const settings = await options.settings()
      return (await settings.get('caller_token')) === 'required' ? locked(ensure) : undefined
    },
    async require(on) {
      const settings = await options.settings()
      await locked(async () => {
        if (on) await ensure()
        await settings.change(() => ({ caller_token: on ? 'required' : undefined }))
        if (!on) await rm(path, { force: true })
      })
    },
  }
}
