import type { RunConfig } from '../../src/contracts/run-config.ts'
import { hasCallers } from '../../src/has-callers.ts'
import { hasOutgoingToken } from '../auth-out/index.ts'
import { failures } from './failures.ts'

/** Fails with `exchange_without_token` where neither callers nor we log in. */
export function assertToken(config: RunConfig): void {
  if (!hasCallers(config) && !hasOutgoingToken(config)) {
    throw failures.exchange_without_token({ name: config.name })
  }
}
