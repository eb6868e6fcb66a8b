import type { Plugin } from '../../src/plugin.ts'
import { SecretDelete } from './commands/secret-delete.ts'
import { SecretGet } from './commands/secret-get.ts'
import { SecretImport } from './commands/secret-import.ts'
import { SecretList } from './commands/secret-list.ts'
import { SecretLock } from './commands/secret-lock.ts'
import { SecretProvider } from './commands/secret-provider.ts'
import { SecretResetKeyring } from './commands/secret-reset-keyring.ts'
import { SecretSet } from './commands/secret-set.ts'
import { SecretSetup } from './commands/secret-setup.ts'
import { SecretUnlock } from './commands/secret-unlock.ts'
import { encryptedOffer } from './providers/encrypted.ts'
import { environmentOffer } from './providers/environment.ts'
import { onePasswordOffer } from './providers/onepassword.ts'
import { secretsSection } from './section.ts'
import type { Secrets } from './service.ts'

export { type BoundSecret, boundSecret, type MemberSecret, memberSecret } from './bound-secret.ts'
export type { Consent, Consents, Wanted } from './consents.ts'
export type { Scope } from './secret-names.ts'
export type { ProviderChoice, ProviderInfo, Secrets } from './service.ts'
export type { SecretsView } from './view.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    secrets: Secrets
  }
}

/** Keeps named values out of run configs and hands them to workloads when they start. */
const secrets: Plugin = {
  name: 'secrets',
  uses: ['settings', 'workloadStore'],
  commands: [
    SecretSetup,
    SecretProvider,
    SecretSet,
    SecretGet,
    SecretDelete,
    SecretList,
    SecretImport,
    SecretUnlock,
    SecretLock,
    SecretResetKeyring,
  ],
  routes: async (api, app) => (await import('./routes.ts')).secretRoutes(api, app),
  services: {
    secrets: async app => {
      const { createSecrets } = await import('./service.ts')
      return createSecrets({
        app,
        offers: () => app.contributions('secretsProviders'),
        settings: {
          get: async () => (await app.service('settings')).get('secrets'),
          change: async decide =>
            (await app.service('settings')).change(current => ({ secrets: decide(current('secrets')) })),
        },
        runConfigs: async () => (await app.service('workloadStore')).configs.list(),
      })
    },
  },
  provides: {
    sections: [secretsSection],
    secretsProviders: [encryptedOffer, environmentOffer, onePasswordOffer],
  },
}
export default secrets
