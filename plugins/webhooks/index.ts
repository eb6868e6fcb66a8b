import type { Plugin } from '../../src/plugin.ts'
import { mutatingMiddleware, validatingMiddleware } from './middlewares.ts'
import { webhooksPreparation } from './preparation.ts'
import { webhooksSection } from './section.ts'

/** Asks programs of the user, over HTTP, about what clients send. */
const webhooks: Plugin = {
  name: 'webhooks',
  needs: ['proxy'],
  uses: ['secrets'],
  provides: {
    sections: [webhooksSection],
    preparations: [webhooksPreparation],
    middlewares: [mutatingMiddleware, validatingMiddleware],
  },
}
export default webhooks
