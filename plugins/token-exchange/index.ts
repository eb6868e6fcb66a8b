import type { Plugin } from '../../src/plugin.ts'
import { tokenExchangeHooks } from './hooks.ts'
import { tokenExchangeMiddleware } from './middleware.ts'
import { tokenExchangePreparation } from './preparation.ts'
import { tokenExchangeSection } from './section.ts'

/** Exchanges tokens of callers for tokens that the server behind a proxy accepts (RFC 8693). */
const tokenExchange: Plugin = {
  name: 'token-exchange',
  needs: ['auth-in', 'auth-out', 'proxy', 'secrets'],
  uses: ['oauthEngine', 'secrets'],
  provides: {
    sections: [tokenExchangeSection],
    preparations: [tokenExchangePreparation],
    middlewares: [tokenExchangeMiddleware],
    hooks: [tokenExchangeHooks],
  },
}
export default tokenExchange
