import { join } from 'node:path'
import type { Plugin } from '../../src/plugin.ts'

/** Logs in to registries, as an OAuth client of their identity providers. */
const registryLogin: Plugin = {
  name: 'registry-login',
  needs: ['auth-out', 'registry', 'secrets'],
  uses: ['oauthEngine', 'secrets'],
  services: {
    registryTokens: async app => {
      const { createRegistryTokens } = await import('./service.ts')
      return createRegistryTokens({
        secrets: await app.service('secrets'),
        engine: () => app.service('oauthEngine'),
        log: app.log,
        env: app.env,
        lockPath: join(app.paths.state, 'registry-login.lock'),
      })
    },
  },
}
export default registryLogin
