import { once } from 'node:events'
import { lstat, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import * as t from 'typanion'
import { failures as core } from '../../src/errors.ts'
import { readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { processIdentity } from '../../src/lib/process-identity.ts'
import type { Log } from '../../src/log.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { withFileLock } from '../../src/with-file-lock.ts'
import { failures } from './failures.ts'

/** Where programs of the same user find the server; names as ToolHive writes them. */
export interface ServerRecord {
  /** `http://127.0.0.1:8080` or `unix:///path`. */
  readonly url: string
  readonly pid: number
  /** The value that `/health` returns, so that another server at the same address is not mistaken for this one. */
  readonly nonce: string
  readonly started_at: string
}

const isRecord = t.isObject(
  { url: t.isString(), pid: t.isNumber(), nonce: t.isString(), started_at: t.isString() },
  { extra: t.isUnknown() },
)

const LOCK_SECONDS = 10
const HEALTH_MS = 5000

/** The file `<state>/server/server.json`. */
export interface Discovery {
  /** Fails with `serve_runs` while the server that wrote the file responds. */
  assertFree(): Promise<void>
  write(record: ServerRecord): Promise<void>
  /** Removes the file if it is still that server's. */
  remove(nonce: string): Promise<void>
}

export function createDiscovery({ state, log }: { state: string; log: Log }): Discovery {
  const path = join(state, 'server', 'server.json')
  const lock = `${path}.lock`
  const locked = <T>(work: () => Promise<T>): Promise<T> =>
    withFileLock(lock, work, { seconds: LOCK_SECONDS })

  /** A link would have us write, or read, where somebody else wants it. */
  async function read(): Promise<ServerRecord | undefined> {
    const found = await lstat(path).catch(() => undefined)
    if (found && !found.isFile()) throw core.invalid_file({ path, problem: 'it is a link or no file.' })
    try {
      const value: unknown = JSON.parse((await readFileIfThere(path)) ?? 'null')
      return isRecord(value) ? value : undefined
    } catch {
      log.warn(`${path} cannot be read and is written anew.`)
      return undefined
    }
  }

  async function assertFree(): Promise<void> {
    const other = await read()
    if (!other || other.pid === process.pid || !processIdentity(other.pid)) return
    if (await isHealthy(other)) throw failures.serve_runs({ url: other.url, pid: other.pid })
  }

  return {
    assertFree: () => locked(assertFree),
    write: record =>
      locked(async () => {
        await assertFree()
        await writeFileAtomic(path, `${JSON.stringify(record)}\n`)
      }),
    remove: nonce =>
      locked(async () => {
        if ((await read())?.nonce === nonce) await rm(path, { force: true })
      }),
  }
}

async function isHealthy({ url, nonce }: ServerRecord): Promise<boolean> {
  const socket = url.startsWith('unix://') ? url.slice('unix://'.length) : undefined
  const parsed = URL.parse(url)
  // The file says where to ask; it must not send us anywhere else.
  if (socket === undefined && !(parsed?.protocol === 'http:' && isLoopback(parsed.hostname))) return false
  const place = socket === undefined ? { host: parsed?.hostname, port: parsed?.port } : { socketPath: socket }
  const signal = AbortSignal.timeout(HEALTH_MS)
  const { get } = await import('node:http') // loads the whole of fetch, and few have a server already
  const asked = get({ ...place, path: '/health', agent: false, signal })
  try {
    const [{ statusCode, headers }] = (await once(asked, 'response')) as [IncomingMessage]
    return statusCode === 204 && headers['x-toolhive-nonce'] === nonce
  } catch {
    return false
  } finally {
    asked.destroy()
  }
}
