import { isFailure, messageOf } from '../../../src/errors.ts'

/** Why one skill could not be synced or upgraded, in ToolHive's words. */
export type FailureReason =
  | 'registry-unreachable'
  | 'digest-missing'
  | 'validation-rejected'
  | 'lock-write-failed'
  | 'signature-invalid'
  | 'signer-mismatch'
  | 'provenance-field-mismatch'
  | 'unsigned-rejected'
  | 'unknown'

/** One skill that could not be synced or upgraded. */
export interface FailedSkill {
  name: string
  reason: FailureReason
  error: string
}

const BY_CODE: Readonly<Record<string, FailureReason>> = {
  skill_signature_invalid: 'signature-invalid',
  skill_signer_changed: 'signer-mismatch',
  skill_provenance_changed: 'provenance-field-mismatch',
  skill_unsigned: 'unsigned-rejected',
  skill_signature_lost: 'unsigned-rejected',
}

const BY_STATUS: Readonly<Record<number, FailureReason>> = {
  400: 'validation-rejected',
  404: 'digest-missing',
  409: 'validation-rejected',
  422: 'validation-rejected',
  429: 'registry-unreachable',
  502: 'registry-unreachable',
  503: 'registry-unreachable',
  504: 'registry-unreachable',
}

/** Reasons that are a refusal, unlike failures of the network or of files. */
export const POLICY_REASONS: ReadonlySet<FailureReason> = new Set([
  'signature-invalid',
  'signer-mismatch',
  'provenance-field-mismatch',
  'unsigned-rejected',
])

export function toFailedSkill(name: string, error: unknown): FailedSkill {
  return { name, reason: reasonOf(error), error: messageOf(error) }
}

function reasonOf(error: unknown): FailureReason {
  if (!isFailure(error)) return 'unknown'
  if (error.code === 'file_unwritable' && error.message.includes('keelson.lock.yaml'))
    return 'lock-write-failed'
  return BY_CODE[error.code] ?? BY_STATUS[error.status] ?? 'unknown'
}
