import { flag } from '../../src/cli/flags.ts'
import type { RunFlags } from '../../src/plugin.ts'

/** How much a missing or wrong signature matters. */
export const MODES = ['warn', 'enabled', 'disabled'] as const
export type VerificationMode = (typeof MODES)[number]

const verificationTable = {
  'image-verification': flag.choice(
    'check the signature of a registry image: warn, refuse (enabled), or do not look (disabled)',
    MODES,
    'warn',
  ),
}

/** The flags of commands that put another image in the place of one; without them as much is asked for as before. */
export const lessVerificationTable = {
  'image-verification': flag.choice(
    'check the signature of the new image: warn, refuse (enabled), or do not look (disabled) [as it was run]',
    MODES,
  ),
  'accept-less-verification': flag.boolean('take less verification than the workload had'),
  'accept-changed-signer': flag.boolean('take an image that others have made than the one before'),
}

/** The flag of `run` about signatures. */
export const verificationFlags: RunFlags = {
  title: 'Image verification',
  of: ['run'],
  flags: verificationTable,
}
