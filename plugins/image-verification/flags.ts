import { flag } from '../../src/cli/flags.ts'
import type { RunFlags } from '../../src/plugin.ts'

/** How much a missing or wrong signature matters. */
export const MODES = ['warn', 'enabled', 'disabled'] as const
export type VerificationMode = (typeof MODES)[number]

/** The flag itself, for commands that fetch images without being `run`. */
export const verificationTable = {
  'image-verification': flag.choice(
    'check the signature of a registry image: warn, refuse (enabled), or do not look (disabled)',
    MODES,
    'warn',
  ),
}

/** The flag of `run` about signatures. */
export const verificationFlags: RunFlags = {
  title: 'Image verification',
  of: ['run'],
  flags: verificationTable,
}
