import * as t from 'typanion'
import type { Dialect } from './dialect.ts'
import type { EngineFacts } from './engine-facts.ts'
import type { EngineInfo } from './engine-info.ts'
import { call, readBody } from './engine-socket.ts'

const info = t.isObject({ ID: t.isString() }, { extra: t.isUnknown() })

const INFO_MS = 10_000
/** How long it is known that the same engine is behind socket and program, in milliseconds. */
const KEEP_MS = 24 * 60 * 60_000

/**
 * Makes a function that returns the path of the engine's socket. It returns undefined where there is none, and where
 * the program calls another engine than the one behind it: the program may be a script that calls one elsewhere. Both
 * are asked for the engine's random id, once for each start of the engine.
 */
export function createOwnSocket(options: {
  dialect: Dialect
  env: Readonly<Record<string, string | undefined>>
  facts: EngineFacts
  info: EngineInfo
}): () => Promise<string | undefined> {
  const { dialect, env, facts } = options
  const known = new Map<string, Promise<boolean>>()

  async function compare(path: string): Promise<string> {
    const [own, there] = await Promise.all([options.info.read(), readId(path)])
    return JSON.stringify(info(own) && own.ID !== '' && own.ID === there)
  }

  return async () => {
    const path = dialect.socket?.(env)
    if (path === undefined) return undefined
    const isOwn =
      known.get(path) ??
      facts
        .get(['socket'], () => compare(path), { keepMs: KEEP_MS })
        .then(
          text => text === 'true',
          () => false,
        )
    known.set(path, isOwn)
    if (await isOwn) return path
    known.delete(path)
    return undefined
  }
}

async function readId(path: string): Promise<string | undefined> {
  const { response } = await call(path, 'GET', '/info', { timeoutMs: INFO_MS })
  const found: unknown = JSON.parse(await readBody(response))
  return info(found) ? found.ID : undefined
}
