import { type Failure, isFailure } from '../../src/errors.ts'
import { failures } from './failures.ts'

type Said = { readonly issuer: string; readonly problem: string }

/** What a login to a registry says in place of what the OAuth engine says of remote servers. */
const WORDS: Readonly<Record<string, (said: Said) => Failure>> = {
  remote_issuer_unreachable: failures.issuer_unreachable,
  remote_issuer_invalid: failures.issuer_invalid,
  remote_pkce_missing: ({ issuer }) =>
    failures.issuer_invalid({ issuer, problem: 'it does not know PKCE with S256' }),
  remote_client_needed: failures.login_client_needed,
  remote_login_denied: failures.login_denied,
  remote_login_failed: failures.login_failed,
}

/** Says what went wrong at an identity provider, without codes and tokens. */
export function toProviderFailure(error: unknown): unknown {
  if (!isFailure(error)) return error
  const details = error.details as Said & { readonly port: number; readonly seconds: number }
  if (error.code === 'remote_login_port_taken') return failures.login_port_taken(details)
  if (error.code === 'remote_login_timeout') return failures.login_timeout(details)
  return WORDS[error.code]?.(details) ?? error
}

/** The result of the engine, or its failure in our words. */
export async function atProvider<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw toProviderFailure(error)
  }
}
