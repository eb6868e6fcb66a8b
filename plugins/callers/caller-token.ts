import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { failures as core, messageOf } from '../../src/errors.ts'
import { readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { withLock } from '../../src/lib/file-lock.ts'
import type { Log } from '../../src/log.ts'
import type { Settings } from '../settings/index.ts'

/** The caller token: whoever can read its file is the user. */
export interface CallerToken {
  /** The file that holds it, readable for the user alone. */
  readonly path: string
  /** The token that callers have to bring; undefined: none. At most a second old. */
  required(): Promise<string | undefined>
  /** Makes a token and requires it, or takes it away. Fails with `locked`. */
  require(on: boolean): Promise<void>
}

const FRESH_MS = 1000
const LOCK_SECONDS = 5
const SHAPE = /^[A-Za-z0-9_-]{43}$/

const makeToken = (): string => randomBytes(32).toString('base64url')

export function createCallerToken(options: {
  state: string
  settings: () => Promise<Settings>
  log: Log
  now?: () => number
}): CallerToken {
  const { state, log, now = Date.now } = options
  const path = join(state, 'caller-token')
  const lock = `${path}.lock`
  let last: { readonly at: number; readonly token: Promise<string | undefined> } | undefined

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

  /** What cannot be read lets nobody in: a token that nobody knows is required then. */
  async function lookUp(): Promise<string | undefined> {
    try {
      const settings = await options.settings()
      if ((await settings.get('caller_token')) !== 'required') return undefined
      return (await read()) ?? (await locked(ensure))
    } catch (error) {
      log.error('whether callers need a token cannot be found out; nobody is let in', {
        error: messageOf(error),
      })
      return makeToken()
    }
  }

  return {
    path,
    required() {
      const at = now()
      if (!last || at - last.at >= FRESH_MS) last = { at, token: lookUp() }
      return last.token
    },
    async require(on) {
      const settings = await options.settings()
      await locked(async () => {
        if (on) await ensure()
        await settings.change(() => ({ caller_token: on ? 'required' : undefined }))
        if (!on) await rm(path, { force: true })
      })
      last = undefined
    },
  }
}
