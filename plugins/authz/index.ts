import type { Plugin } from '../../src/plugin.ts'
import { AuthzLint } from './commands/authz-lint.ts'
import { AuthzTest } from './commands/authz-test.ts'
import { authzMiddleware } from './middleware.ts'
import { authzPreparation } from './preparation.ts'
import { authzSection } from './section.ts'

/** Decides what callers may use. */
const authz: Plugin = {
  name: 'authz',
  needs: ['proxy'],
  wants: ['serverTools'],
  commands: [AuthzTest, AuthzLint],
  provides: {
    sections: [authzSection],
    preparations: [authzPreparation],
    middlewares: [authzMiddleware],
  },
}
export default authz
