import { createClient, createSentinel, RESP_TYPES } from '@redis/client'
import { messageOf } from '../errors.ts'
import { withinTime } from '../lib/within-time.ts'
import { trustedWith } from '../net/trusted-with.ts'
import type { RedisAddress } from './redis-address.ts'

export interface RedisTls {
  /** PEM certificates that are trusted besides those of the system. */
  readonly ca?: string | undefined
  readonly isUnchecked: boolean
}

/** Where Redis is and how to get in. */
export interface RedisAccess {
  readonly servers: readonly [RedisAddress, ...RedisAddress[]]
  /** The name of the primary, where the servers are sentinels. */
  readonly primary: string | undefined
  readonly database: number
  readonly username: string | undefined
  readonly password: string | undefined
  readonly tls: RedisTls | undefined
  readonly sentinelTls: RedisTls | undefined
  readonly dialMs: number
  /** For one operation, sent and returned. */
  readonly operationMs: number
}

/** What is asked of Redis. */
export interface RedisConnection {
  get(key: string): Promise<Buffer | null>
  zCard(key: string): Promise<number>
  /** Texts in the result are bytes. */
  eval(script: string, options: { keys: string[]; arguments: (string | Buffer)[] }): Promise<unknown>
  destroy(): unknown
}

/** How many operations may wait for Redis at once; further ones fail. */
const MOST_WAITING = 1000

/** A connection that is silent for as long as an operation may take, and this, is opened again. */
const PING_MS = 2000
const LONGEST_RETRY_MS = 2000

/**
 * Connects to Redis. A connection that breaks is opened again and again; operations meanwhile fail at once. Fails
 * when there is no connection at first, and where the server is a node of a cluster or takes no scripts.
 */
export async function connectRedis(
  settings: RedisAccess,
  {
    onError,
    mostWaiting = MOST_WAITING,
  }: { readonly onError: (error: unknown) => void; readonly mostWaiting?: number },
): Promise<RedisConnection> {
  const isReached = { yet: false }
  const socket = (tls: RedisTls | undefined) => ({
    connectTimeout: settings.dialMs,
    socketTimeout: settings.operationMs + PING_MS,
    reconnectStrategy: (retries: number) =>
      isReached.yet ? Math.min(50 * 2 ** retries, LONGEST_RETRY_MS) : (false as const),
    ...toTls(tls),
  })
  const node = {
    database: settings.database,
    ...toLogin(settings),
    commandsQueueMaxLength: mostWaiting,
    disableOfflineQueue: true,
    pingInterval: PING_MS,
  }
  const [server] = settings.servers
  const connection =
    settings.primary === undefined
      ? createClient({ ...node, socket: { ...server, ...socket(settings.tls) } })
      : createSentinel({
          name: settings.primary,
          sentinelRootNodes: [...settings.servers],
          nodeClientOptions: { ...node, socket: socket(settings.tls) },
          sentinelClientOptions: { socket: socket(settings.sentinelTls) },
          scanInterval: LONGEST_RETRY_MS,
        })
  connection.on('error', onError)
  try {
    // The client looks for sentinels without an end.
    await withinTime<unknown>(connection.connect(), {
      ms: settings.dialMs + settings.operationMs,
      late: () => new Error('it does not respond'),
      signal: undefined,
    })
    await withinTime(assertUsable(connection), {
      ms: settings.operationMs,
      late: () => new Error('it does not respond'),
      signal: undefined,
    })
  } catch (error) {
    connection.destroy()
    throw error
  }
  isReached.yet = true
  const inBytes = connection.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
  return {
    get: key => inBytes.get(key),
    zCard: key => connection.zCard(key),
    eval: (script, options) => inBytes.eval(script, options),
    destroy: () => connection.destroy(),
  }
}

/** In a cluster these keys are of different nodes. A script may not use both. */
const PROBE = { keys: ['keelson:1', 'keelson:2'], arguments: [] }

/** Runs a script: INFO would tell more, but users of Redis are often not allowed to use it. */
async function assertUsable(connection: {
  eval(script: string, options: typeof PROBE): Promise<unknown>
}): Promise<void> {
  try {
    await connection.eval('return 1', PROBE)
  } catch (error) {
    const said = messageOf(error)
    const reason = Object.entries(UNUSABLE).find(([, pattern]) => pattern.test(said))?.[0]
    if (reason) throw new Error(`${reason} (${said})`, { cause: error })
    if (!MAY_NOT_USE_KEYS.test(said)) throw error
  }
}

const UNUSABLE = {
  'it is a node of a Redis Cluster, which is not supported': /^(?:CROSSSLOT|CLUSTERDOWN|MOVED|ASK)\b/,
  'it takes no scripts; is it a Sentinel?': /unknown command/i,
}
/** Of a user that may use other keys only. */
const MAY_NOT_USE_KEYS = /^NOPERM\b.*\bkeys?\b/i

const toLogin = ({ username, password }: RedisAccess) => ({
  ...(username === undefined ? {} : { username }),
  ...(password === undefined ? {} : { password }),
})

const toTls = (tls: RedisTls | undefined) =>
  tls && {
    tls: true as const,
    rejectUnauthorized: !tls.isUnchecked,
    ...(tls.ca === undefined ? {} : { ca: trustedWith(tls.ca) }),
  }
