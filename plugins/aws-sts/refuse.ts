import type { Exchange } from '../../src/contracts/pipeline.ts'
import type { Log } from '../../src/log.ts'
import { createThrottledLog } from '../../src/throttled-log.ts'
import { refuseToken, refuseUnavailable } from '../proxy/index.ts'
import type { CredentialsProblem } from './caller-credentials.ts'

const RETRY_SECONDS = 2

/** Makes the refusals of requests whose caller has no credentials of AWS. */
export function createRefuse(log: Log): (exchange: Exchange, problem: CredentialsProblem) => Promise<void> {
  const warn = createThrottledLog(log)
  const note = (problem: string) => warn(`A caller gets no credentials of AWS: ${problem}.`)

  return async (exchange, problem) => {
    switch (problem.kind) {
      case 'role':
        return refuseToken(exchange, 403, {
          error: 'access_denied',
          description: 'No role of AWS is for this caller',
        })
      case 'denied':
        note(`the role does not trust it (${problem.code})`)
        return refuseToken(exchange, 403, {
          error: 'access_denied',
          description: `The role of AWS does not trust this caller (${problem.code})`,
        })
      case 'session':
        return refuseToken(exchange, 401, {
          error: 'invalid_token',
          description: 'The token names no session: 2 to 64 letters, digits and _+=,.@-',
        })
      case 'token':
        note(`STS refuses its token (${problem.code})`)
        return refuseToken(exchange, 401, {
          error: 'invalid_token',
          description: `AWS does not accept the token (${problem.code})`,
        })
      case 'away':
        note(`STS: ${problem.problem}`)
        throw await refuseUnavailable(exchange, 'AWS gives no credentials now', RETRY_SECONDS)
    }
  }
}
