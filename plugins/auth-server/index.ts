import type { Plugin } from '../../src/plugin.ts'
import { authServerHooks } from './hooks.ts'
import { authServerMiddleware } from './middleware.ts'
import { authServerPreparation } from './preparation.ts'
import { requireCaller } from './require-caller.ts'
import { authServerSection } from './section.ts'
import type { AuthServers } from './service.ts'
import { upstreamSwapMiddleware } from './swap/middleware.ts'
import { upstreamSwapSection } from './swap/section.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    authServers: AuthServers
  }
}

/** Puts an authorization server in front of a workload: people log in at a provider, programs get tokens of ours. */
const authServer: Plugin = {
  name: 'auth-server',
  needs: ['auth-in', 'auth-out', 'proxy'],
  services: { authServers: async app => (await import('./service.ts')).createAuthServers(app) },
  provides: {
    sections: [authServerSection, upstreamSwapSection],
    preparations: [authServerPreparation],
    middlewares: [authServerMiddleware, requireCaller, upstreamSwapMiddleware],
    hooks: [authServerHooks],
  },
}
export default authServer
