import { Failure, isFailure } from '../../src/errors.ts'
import { failures } from './failures.ts'

/** Turns a failure of an OCI registry into the failure of this plugin with the status that the skills API gives it. */
export function toArtifactFailure(error: unknown, reference: string): unknown {
  if (!(error instanceof Failure) || !error.code.startsWith('oci_')) return error
  const details = { reference, problem: error.message.replace(/\.$/, ''), hint: error.hint }
  const make: Make = isTooMany(error)
    ? failures.skill_source_busy
    : (BY_CODE[error.code] ?? failures.skill_source_failed)
  return make(details, { cause: error })
}

type Make = (
  details: { reference: string; problem: string; hint?: string | undefined },
  options: { cause: unknown },
) => Failure

const BY_CODE: Readonly<Record<string, Make>> = {
  oci_reference: failures.skill_reference_invalid,
  oci_denied: failures.skill_source_denied,
  oci_missing: failures.skill_source_missing,
  oci_timeout: failures.skill_source_timeout,
}

const isTooMany = (error: Failure): boolean =>
  isFailure(error, 'oci_busy') && (error.details as { status?: unknown }).status === 429
