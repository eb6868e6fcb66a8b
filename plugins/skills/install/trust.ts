import type { FetchedSkill, SkillSigner } from '../../skill-sources/index.ts'
import { failures } from '../failures.ts'

/** The signature of a skill as recorded at its first installation. */
export interface Trust {
  readonly provenance?: SkillSigner | undefined
  readonly unsigned?: boolean | undefined
}

/** How strictly signers are compared: for the same content, for a newer version, or not at all. */
export type SignerRule = 'same-content' | 'newer-version' | 'any-signer'

type Signed = Pick<FetchedSkill, 'manifest' | 'reference' | 'signer'>

/**
 * Trust on first use: the signer of the first version must sign the later ones. A skill that was signed once
 * is never replaced by an unsigned one, also where unsigned skills are allowed.
 *
 * Fails with `skill_unsigned`, `skill_signature_lost`, `skill_signer_changed` or `skill_provenance_changed`.
 * Returns the trust to record.
 */
export function checkTrust(
  fetched: Signed,
  before: Trust | undefined,
  { allowUnsigned, rule }: { allowUnsigned: boolean; rule: SignerRule },
): Trust {
  const { manifest, reference, signer } = fetched
  const { name } = manifest
  const known = before?.provenance
  if (!signer) {
    if (known) throw failures.skill_signature_lost({ name, signer: known.signerIdentity })
    if (!allowUnsigned) throw failures.skill_unsigned({ name, reference })
    return { unsigned: true }
  }
  const difference = known && rule !== 'any-signer' ? compareSigners(known, signer, rule) : undefined
  if (difference) {
    const facts = { name, before: difference.before, after: difference.after }
    if (difference.field === 'signerIdentity' || difference.field === 'certIssuer')
      throw failures.skill_signer_changed(facts)
    throw failures.skill_provenance_changed({ ...facts, field: difference.field })
  }
  return { provenance: signer }
}

/**
 * Returns the recorded trust, from the pin and from the installed skill. A lock file may come from anybody,
 * so it cannot remove or replace the signer of a skill that was installed here as signed.
 */
export function trustBefore(pin: Trust | undefined, record: Trust | undefined): Trust | undefined {
  return pin?.provenance ? pin : record?.provenance ? record : (pin ?? record)
}

/** Whether the user has agreed on this machine to exactly this unsigned content. A lock file cannot agree. */
export const isUnsignedAllowed = (
  record: (Trust & { readonly digest: string }) | undefined,
  digest: string,
): boolean => record?.unsigned === true && record.digest === digest

const FIELDS = [
  'signerIdentity',
  'certIssuer',
  'repositoryUri',
  'repositoryRef',
  'runnerEnvironment',
] as const

/**
 * Returns the first member that differs. Members that were never recorded are not compared. A newer version
 * may come from the same workflow at another tag, but not at a branch, because more people may push to a
 * branch than may publish.
 */
export function compareSigners(
  before: SkillSigner,
  after: SkillSigner,
  rule: Exclude<SignerRule, 'any-signer'>,
): { field: (typeof FIELDS)[number]; before: string; after: string } | undefined {
  const form = (text: string) =>
    rule === 'same-content' ? text : text.replace(/(^|@)refs\/tags\/.*$/, '$1refs/tags/*')
  for (const field of FIELDS) {
    const [old, now = ''] = [before[field], after[field]]
    if (old !== undefined && form(old) !== form(now)) return { field, before: old, after: now }
  }
  return undefined
}
