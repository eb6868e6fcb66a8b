import { isFailure, messageOf } from '../../../src/errors.ts'
import { failures } from '../failures.ts'

const UNREADABLE: ReadonlySet<string> = new Set([
  'registry_unreachable',
  'registry_refused',
  'registry_overloaded',
  'registry_invalid',
  'registry_empty',
  'invalid_file',
  'file_missing',
  'file_unreadable',
])

/**
 * For `catch` where the registry is only read: for programs all reasons are one, and the request is not at
 * fault.
 */
export function unavailable(error: unknown): never {
  if (isFailure(error) && UNREADABLE.has(error.code)) {
    throw failures.registry_unavailable({ problem: messageOf(error) }, { cause: error })
  }
  throw error
}
