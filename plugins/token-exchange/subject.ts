import type { Exchange } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { hasCallers } from '../../src/has-callers.ts'
import { callerToken } from '../auth-in/index.ts'
import { hasOutgoingToken, loginIdToken } from '../auth-out/index.ts'
import type { TokenExchangeConfig } from './section.ts'
import { TOKEN_TYPES } from './token-types.ts'

/** Whose token is exchanged. */
export interface Subject {
  readonly kind: 'caller' | 'login'
  /** Undefined: the request has none. */
  tokenOf(exchange: Exchange): string | undefined
}

/**
 * Where the exchanged token would take the place of that of the login at the remote server, the token of the login is
 * exchanged; else that of the caller.
 */
export function chooseSubject(
  config: RunConfig,
  { header_strategy: strategy }: TokenExchangeConfig,
  subjectType: string,
): Subject {
  const isCaller = !hasOutgoingToken(config) || (strategy === 'custom' && hasCallers(config))
  if (isCaller) return { kind: 'caller', tokenOf: callerToken }
  return { kind: 'login', tokenOf: subjectType === TOKEN_TYPES.id_token ? loginIdToken : outgoingToken }
}

/** The token that an earlier stage gives the server. */
function outgoingToken({ ownHeaders }: Exchange): string | undefined {
  const header = ownHeaders?.get('authorization')
  return header?.startsWith('Bearer ') ? header.slice('Bearer '.length) : undefined
}
