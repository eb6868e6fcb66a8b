import type { Plugin } from '../../src/plugin.ts'
import type { CallerAuths } from './caller-auths.ts'
import { authInHooks } from './hooks.ts'
import { authenticateMiddleware, resourceMetadataMiddleware } from './middlewares.ts'
import { loginPreparation } from './preparation.ts'
import { authInSection } from './section.ts'

export { allowedBy, parseAllowed } from './allowed-callers.ts'
export { callerToken } from './caller-token.ts'
export { findOpenIssuer } from './open-issuers.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    callerAuths: CallerAuths
  }
}

/** Authenticates callers by tokens of identity providers that the user trusts (OpenID Connect, OAuth 2). */
const authIn: Plugin = {
  name: 'auth-in',
  needs: ['proxy', 'secrets'],
  wants: ['authServers'],
  services: {
    callerAuths: async app => (await import('./caller-auths.ts')).createCallerAuths(app),
  },
  provides: {
    sections: [authInSection],
    preparations: [loginPreparation],
    middlewares: [resourceMetadataMiddleware, authenticateMiddleware],
    hooks: [authInHooks],
  },
}
export default authIn
