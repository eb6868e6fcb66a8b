import type { FetchedSkill, SkillSigner } from '../../skill-sources/index.ts'
import { failures } from '../failures.ts'

/** What is remembered of a skill's signature since its first installation. */
export interface Trust {
  readonly provenance?: SkillSigner | undefined
  readonly unsigned?: boolean | undefined
}

/** How strictly a signer is compared: the very same content again, a newer version, or not at all. */
export type SignerRule = 'same-content' | 'newer-version' | 'any-signer'

type Signed = Pick<FetchedSkill, 'manifest' | 'reference' | 'signer'>

/**
 * Trust on first use: whoever signed the first version signs the later ones. What was signed once is never
 * replaced by something unsigned, whatever is allowed.
 *
 * Fails with `skill_unsigned`, `skill_signature_lost`, `skill_signer_changed` or `skill_provenance_changed`.
 * Answers what is remembered from now on.
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
 * What counts as remembered: what the skill is pinned to, and what was installed here. A lock file may have
 * come from anybody, so it cannot make a skill unsigned, or signed by anybody, that was signed here before.
 */
export function trustBefore(pin: Trust | undefined, record: Trust | undefined): Trust | undefined {
  return pin?.provenance ? pin : record?.provenance ? record : (pin ?? record)
}

/** Whether the user has agreed here that this very content is not signed. A lock file cannot do that. */
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
 * The first member that differs. A field that was never recorded is not compared. From one version to the
 * next, a workflow at one tag may be followed by the same workflow at another tag, not by one at a branch:
 * who may push a branch need not be who may publish.
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
