import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as t from 'typanion'
import { writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { parseDocument } from '../../src/parse-document.ts'
import { isPrivateFolder } from '../../src/private-folder.ts'
import type { Dialect } from './dialect.ts'
import { call } from './engine-socket.ts'

/** How long facts about an engine are reused, in milliseconds. */
const KEEP_MS = 60_000
const PING_MS = 1000
const AT_ONCE_MS = 200

const fact = t.isObject({ at: t.isNumber(), text: t.isString() })
const schema = t.isObject({ engine: t.isString(), said: t.isRecord(fact) })
type Kept = t.InferType<typeof schema>

/** Facts about an engine, such as its version, cached across commands. */
export interface EngineFacts {
  /**
   * Returns what the engine's program printed for the arguments within the last minute (`keepMs`), and asks otherwise.
   * Cached only for an engine on this host, and used only while that engine responds and is the same one.
   */
  get(args: readonly string[], ask: () => Promise<string>, options?: { keepMs?: number }): Promise<string>
}

export function createEngineFacts(options: {
  dialect: Dialect
  env: Readonly<Record<string, string | undefined>>
  /** Where they are cached. */
  folder: string
}): EngineFacts {
  const { dialect, env, folder } = options
  const path = join(folder, `${dialect.name}-facts.json`)

  /** Changes with the engine, with each start of it and with the program; undefined if nothing may be cached. */
  async function ask(): Promise<string | undefined> {
    const socket = dialect.socket?.(env)
    if (socket === undefined) return dialect.identify?.(env)
    const [{ ino, mtimeMs }, ping] = await Promise.all([
      stat(socket),
      call(socket, 'GET', '/_ping', { timeoutMs: PING_MS }),
    ])
    ping.close()
    if (ping.response.statusCode !== 200) return undefined
    return [socket, ino, mtimeMs, ping.response.headers.server, env.PATH].join('\n')
  }

  let asked: { at: number; engine: Promise<string | undefined> } | undefined
  /** Facts that are wanted at once need one ping. */
  function identify(): Promise<string | undefined> {
    if (!asked || Date.now() - asked.at > AT_ONCE_MS) {
      asked = { at: Date.now(), engine: ask().catch(() => undefined) }
    }
    return asked.engine
  }

  async function read(engine: string): Promise<Kept> {
    const none = { engine, said: {} }
    if (!isPrivateFolder(folder)) return none
    try {
      const kept = parseDocument(await readFile(path, 'utf8'), path, schema)
      return kept.engine === engine ? kept : none
    } catch {
      return none
    }
  }

  return {
    async get(args, ask, { keepMs = KEEP_MS } = {}) {
      const engine = await identify()
      if (engine === undefined) return ask()
      const key = args.join(' ')
      const kept = await read(engine)
      const known = kept.said[key]
      const age = known ? Date.now() - known.at : -1
      if (known && age >= 0 && age < keepMs) return known.text
      const text = await ask()
      try {
        const { said } = await read(engine) // others may have asked meanwhile
        const more = { ...said, [key]: { at: Date.now(), text: withoutProxies(text) } }
        await writeFileAtomic(path, JSON.stringify({ engine, said: more }))
      } catch {
        // the next command asks again
      }
      return text
    },
  }
}

/** The proxies of an engine may hold a password. */
const withoutProxies = (text: string): string =>
  JSON.stringify(JSON.parse(text, (key, value) => (/proxy/i.test(key) ? undefined : value)))
