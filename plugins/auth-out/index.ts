import { join } from 'node:path'
import type { Plugin } from '../../src/plugin.ts'

/** Logs in to what others run: as a client of their identity providers. */
const authOut: Plugin = {
  name: 'auth-out',
  needs: ['registry', 'secrets'],
  services: {
    registryTokens: async app => {
      const { createRegistryTokens } = await import('./registry-tokens.ts')
      return createRegistryTokens({
        secrets: await app.service('secrets'),
        log: app.log,
        env: app.env,
        lockPath: join(app.paths.state, 'registry-login.lock'),
      })
    },
  },
}
export default authOut
