import type { Plugin } from '../../src/plugin.ts'
import { remoteAuthFlags } from './flags.ts'
import { authOutHooks } from './hooks.ts'
import { credentialsMiddleware } from './middleware.ts'
import { credentialsPreparation } from './preparation.ts'
import { authOutSection } from './section.ts'

export type * from './oauth/types.ts'

/** Logs in to remote MCP servers, and gives their requests the headers that the user wants. */
const authOut: Plugin = {
  name: 'auth-out',
  needs: ['proxy', 'secrets'],
  wants: ['secrets'],
  provides: {
    flags: [remoteAuthFlags],
    sections: [authOutSection],
    preparations: [credentialsPreparation],
    middlewares: [credentialsMiddleware],
    hooks: [authOutHooks],
  },
}
export default authOut
