import type { Exchange } from '../../src/contracts/pipeline.ts'
import type { Log } from '../../src/log.ts'
import { createThrottledLog } from '../../src/throttled-log.ts'
import { refuseToken, refuseUnavailable } from '../proxy/index.ts'
import type { ExchangeProblem } from './exchange-problem.ts'
import { failures } from './failures.ts'

/** Refuses requests that have no token for the server. */
export interface Refuse {
  /** The request has no token to exchange. */
  noSubject(exchange: Exchange): Promise<void>
  problem(exchange: Exchange, problem: ExchangeProblem): Promise<void>
  /** The server accepts no exchanged token. The refusal is to be thrown. */
  refusedByServer(exchange: Exchange): Promise<Error>
}

/** How long clients shall wait, in seconds. */
const RETRY_SECONDS = 10
const SOON_SECONDS = 2

/** Makes the refusals of one workload. What went wrong at the endpoint is for the log; callers get to know the kind. */
export function createRefuse({
  log,
  endpoint,
  subject,
}: {
  log: Log
  endpoint: string
  subject: 'caller' | 'login'
}): Refuse {
  const warn = createThrottledLog(log)
  const note = (problem: string) => warn(`Tokens cannot be exchanged at ${endpoint}: ${problem}.`)

  async function loginUnusable(exchange: Exchange): Promise<never> {
    const text = 'The login at the remote server gives no token that can be exchanged.'
    throw await refuseUnavailable(exchange, text, RETRY_SECONDS)
  }

  return {
    async noSubject(exchange) {
      if (subject === 'login') return loginUnusable(exchange)
      return refuseToken(exchange, 401, {
        error: 'invalid_token',
        description: 'Token exchange failed: there is no token',
      })
    },
    async problem(exchange, problem) {
      switch (problem.kind) {
        case 'token':
          if (subject === 'caller') {
            const description = `Token exchange failed: the token is not accepted (${problem.code})`
            return refuseToken(exchange, 401, { error: 'invalid_token', description })
          }
          note(`it does not accept the token of the login (${problem.code})`)
          return loginUnusable(exchange)
        case 'denied':
          return refuseToken(exchange, 403, {
            error: 'access_denied',
            description: `Token exchange failed: access to the server is not granted (${problem.code})`,
          })
        case 'broken':
          note(problem.problem)
          throw failures.exchange_broken()
        case 'away':
          note(problem.problem)
          throw await refuseUnavailable(
            exchange,
            'Tokens cannot be exchanged now',
            problem.retrySeconds || SOON_SECONDS,
          )
      }
    },
    async refusedByServer(exchange) {
      log.debug('the server does not accept the exchanged token')
      return refuseUnavailable(exchange, 'The server does not accept the exchanged token', RETRY_SECONDS)
    },
  }
}
