import { join } from 'node:path'
import type { Log } from '../../../src/log.ts'
import { failures } from './failures.ts'
import { checkRedisConfig, type RedisConfig, readRedisSettings } from './redis-settings.ts'
import type { RawStore, Store } from './store.ts'

/** `storage` of `embedded_auth_server_config`. */
interface StorageConfig {
  readonly type?: 'memory' | 'sqlite' | 'redis' | undefined
  readonly redis_config?: RedisConfig | undefined
}

/** Fails with `auth_store_config_invalid` for what can be seen without opening the storage. */
export function checkStorage({ type, redis_config: redis }: StorageConfig): void {
  if (type === 'redis') checkRedisConfig(redis)
  else if (redis) throw failures.auth_store_config_invalid({ problem: 'redis_config is for the type redis' })
}

interface StoreOptions {
  /** The workload's. */
  readonly name: string
  /** A folder of this workload alone. */
  readonly folder: string
  readonly secrets: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: Pick<Log, 'error'>
  readonly now?: () => number
}

/**
 * Opens the storage that was configured; without a configuration, memory. Of `secrets` the first seals what is
 * written, and the others open what they sealed before. Fails with `auth_store_config_invalid`,
 * `auth_store_unavailable` and `auth_store_newer`.
 */
export async function openStore(config: StorageConfig, options: StoreOptions): Promise<Store> {
  checkStorage(config)
  const { sealStore } = await import('./sealed-store.ts')
  return sealStore(await openRaw(config, options), options.secrets)
}

async function openRaw(config: StorageConfig, options: StoreOptions): Promise<RawStore> {
  const { folder, log, now = Date.now } = options
  switch (config.type) {
    case 'redis': {
      const settings = await readRedisSettings(config.redis_config ?? {}, options)
      return (await import('./redis-store.ts')).openRedisStore(settings)
    }
    case 'sqlite': {
      const { openSqliteStore } = await import('./sqlite-store.ts')
      return openSqliteStore({ path: join(folder, 'auth-server.sqlite'), log, now })
    }
    default:
      return (await import('./memory-store.ts')).createMemoryStore({ now })
  }
}
