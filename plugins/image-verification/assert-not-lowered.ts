import type { RunConfig } from '../../src/contracts/run-config.ts'
import { failures } from './failures.ts'
import type { VerificationMode } from './flags.ts'
import type { Accepted } from './service.ts'

const RANK: Readonly<Record<VerificationMode, number>> = { disabled: 0, warn: 1, enabled: 2 }

/** Fails with `verification_lowered` where less is wanted than the workload was run with, unless that is accepted. */
export function assertNotLowered(
  { name, image_verification: before = 'disabled' }: RunConfig,
  wanted: VerificationMode | undefined,
  accepted: Accepted = {},
): void {
  if (wanted === undefined || RANK[wanted] >= RANK[before] || accepted.lessVerification) return
  throw failures.verification_lowered({ name, before, wanted })
}
