import { join } from 'node:path'
import type { Plugin } from '../../src/plugin.ts'
import { AuthClientMetadata } from './commands/auth-client-metadata.ts'
import { AuthList } from './commands/auth-list.ts'
import { AuthLogin } from './commands/auth-login.ts'
import { AuthLogout } from './commands/auth-logout.ts'
import { AuthStatus } from './commands/auth-status.ts'
import { authOutHooks } from './hooks.ts'
import type { LoginKeeper } from './logins/login-keeper.ts'
import type { OwnLoginMemory } from './logins/login-memory.ts'
import { credentialsMiddleware } from './middleware.ts'
import type { OAuthEngine } from './oauth/types.ts'
import { credentialsPreparation } from './preparation.ts'
import { authOutSection } from './section.ts'

export { assertHeaderName } from './headers/header-rules.ts'
export { loginIdToken } from './logins/login-id-token.ts'
export { hasOutgoingToken } from './logins/login-settings.ts'
export type * from './oauth/types.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    oauthEngine: OAuthEngine
    remoteLogins: LoginKeeper
    /** The logins that no secrets provider keeps, as far as they are in this process. */
    loginMemory: OwnLoginMemory
  }
}

/** Logs in to remote MCP servers, and gives their requests the headers that the user wants. */
const authOut: Plugin = {
  name: 'auth-out',
  needs: ['proxy', 'secrets', 'settings', 'state'],
  uses: ['settings', 'workloadStore'],
  wants: ['secrets', 'supervisor'],
  commands: [AuthLogin, AuthLogout, AuthStatus, AuthList, AuthClientMetadata],
  services: {
    oauthEngine: async () => (await import('./oauth/engine.ts')).createOAuthEngine(),
    async loginMemory(app) {
      const { createLoginMemory } = await import('./logins/login-memory.ts')
      const { createLoginNotes } = await import('./logins/login-notes.ts')
      return createLoginMemory(createLoginNotes(join(app.paths.state, 'remote-logins')))
    },
    async remoteLogins(app) {
      const { createLoginKeeper } = await import('./logins/login-keeper.ts')
      const { createLoginNotes } = await import('./logins/login-notes.ts')
      const { createLoginStore } = await import('./logins/login-store.ts')
      const { createSupervisorMemory } = await import('./logins/supervisor-memory.ts')
      const folder = join(app.paths.state, 'remote-logins')
      const own = await app.service('loginMemory')
      const supervisor = await app.find('supervisor')
      const memories = { process: own, supervisor: supervisor ? createSupervisorMemory(supervisor) : own }
      return createLoginKeeper({
        engine: await app.service('oauthEngine'),
        store: createLoginStore(async () => (await app.service('secrets')).scope('auth'), memories),
        folder,
        notes: createLoginNotes(folder),
      })
    },
  },
  provides: {
    sections: [authOutSection],
    preparations: [credentialsPreparation],
    middlewares: [credentialsMiddleware],
    hooks: [authOutHooks],
    supervisorOperations: [
      async app => {
        const { createLoginsOperation } = await import('./logins/logins-operation.ts')
        return createLoginsOperation(await app.service('loginMemory'))
      },
    ],
  },
  routes: async (api, app) => (await import('./routes.ts')).loginRoutes(api, app),
}
export default authOut
