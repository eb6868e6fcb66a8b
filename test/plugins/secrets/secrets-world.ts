import { builtins } from '../../../plugins/index.ts'
import { createSecrets, type Secrets } from '../../../plugins/secrets/service.ts'
import { createSettings } from '../../../plugins/settings/service.ts'
import { createApp } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { SecretsProvider, SecretsProviderOffer } from '../../../src/contracts/secrets.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A provider in memory that can do everything; `values` is what it keeps. */
export function memoryOffer(
  type = 'memory',
  without: readonly (keyof SecretsProvider)[] = [],
): SecretsProviderOffer & { readonly values: Map<string, string>; made: number } {
  const values = new Map<string, string>()
  const offer = {
    type,
    description: 'in memory',
    envFallback: true,
    values,
    made: 0,
    make(): SecretsProvider {
      offer.made++
      const provider: SecretsProvider = {
        find: async name => values.get(name),
        set: async (name, value) => void values.set(name, value),
        delete: async name => values.delete(name),
        list: async () => [...values.keys()].map(key => ({ key })),
        prepare: async () => undefined,
      }
      for (const method of without) Reflect.deleteProperty(provider, method)
      return provider
    },
  }
  return offer
}

/** The secrets service of one user, with real settings. */
export async function secretsWorld(
  options: {
    offers?: readonly SecretsProviderOffer[]
    env?: Record<string, string>
    runConfigs?: readonly Partial<RunConfig>[]
  } = {},
): Promise<{ secrets: Secrets; settings: ReturnType<typeof createSettings> }> {
  const { offers = [memoryOffer()], env = {}, runConfigs = [] } = options
  const paths = findPaths({ HOME: await temporaryFolder() })
  const log = createLog({ write: () => undefined, human: false, debug: false })
  const settings = createSettings({ paths })
  const secrets = createSecrets({
    app: createApp({ paths, log, env, entries: builtins }),
    offers: async () => offers,
    settings: {
      get: () => settings.get('secrets'),
      change: decide => settings.change(current => ({ secrets: decide(current('secrets')) })),
    },
    runConfigs: async () => runConfigs as RunConfig[],
  })
  return { secrets, settings }
}
