import type { Plugin } from '../../src/plugin.ts'
import { awsStsMiddleware } from './middleware.ts'
import { awsStsPreparation } from './preparation.ts'
import { awsStsSection } from './section.ts'

/** Gets credentials of AWS with the tokens of callers, and signs their requests to servers at AWS. */
const awsSts: Plugin = {
  name: 'aws-sts',
  needs: ['auth-in', 'auth-out', 'proxy'],
  wants: ['authServers'],
  provides: {
    sections: [awsStsSection],
    preparations: [awsStsPreparation],
    middlewares: [awsStsMiddleware],
  },
}
export default awsSts
