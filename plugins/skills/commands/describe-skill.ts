import { clean } from '../../../src/cli/output.ts'
import type { SkillDetails } from '../install/installer.ts'

/** Returns who signed a skill, in a few words. */
export function describeTrust({ provenance, unsigned }: Omit<SkillDetails, 'skill'>): string {
  if (unsigned) return 'not signed'
  if (!provenance) return 'signature not checked'
  const { signerIdentity, provisional } = provenance
  return `signed by ${clean(signerIdentity)}${provisional ? ' (provisional: no transparency log)' : ''}`
}

/** Shortens a digest to the digits that people compare. */
export const shortDigest = (digest: string): string => digest.replace(/^sha256:/, '').slice(0, 12)
