import { INVALID_PARAMS } from '../../../../src/net/rpc-error-codes.ts'
import { param, paramText, type Request } from '../../../../src/net/rpc-message.ts'
import { capabilitiesProblem } from '../../eras/modern-meta.ts'
import { rpcRefusal } from '../../request-refusal.ts'
import { type Capabilities, toCapabilities } from '../clients/client-sessions.ts'

/** What a client says in `initialize`. */
export interface InitializeRequest {
  /** Raw text (see raw-json.ts). */
  readonly paramsText: string
  readonly capabilities: Capabilities
}

/** Reads an `initialize`. Refuses (400) capabilities that are too long to be kept for as long as the session. */
export function readInitialize(message: Request): InitializeRequest {
  const problem = capabilitiesProblem(paramText(message, 'capabilities') ?? '')
  if (problem !== undefined) {
    throw rpcRefusal(400, INVALID_PARAMS, problem, { idText: message.idText })
  }
  return {
    paramsText: paramText(message) ?? '{}',
    capabilities: toCapabilities(param(message, 'capabilities')),
  }
}
