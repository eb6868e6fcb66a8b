import type { Plugin } from '../../src/plugin.ts'
import { rateLimitMiddleware } from './middleware.ts'
import { rateLimitPreparation } from './preparation.ts'
import { rateLimitSection } from './section.ts'

/** Limits how often tools are called. */
const rateLimit: Plugin = {
  name: 'rate-limit',
  needs: ['proxy'],
  provides: {
    sections: [rateLimitSection],
    preparations: [rateLimitPreparation],
    middlewares: [rateLimitMiddleware],
  },
}
export default rateLimit
