import { type FlagOptions, flag } from '../../src/cli/flags.ts'
import type { RunFlags } from '../../src/plugin.ts'

/** How much a missing or wrong signature matters. */
export const MODES = ['warn', 'enabled', 'disabled'] as const
export type VerificationMode = (typeof MODES)[number]

const verificationTable = {
  'image-verification': flag.choice(
    'what to do when the signature of a registry image is missing or wrong: warn, refuse to run it (enabled), or do not check (disabled)',
    MODES,
    'warn',
  ),
}

/** Flags of commands that replace an image. Without them the new image must be verified as strictly as the old one. */
export const lessVerificationTable = {
  'image-verification': flag.choice(
    'what to do when the signature of the new image is missing or wrong: warn, refuse it (enabled), or do not check (disabled) [as the workload was run]',
    MODES,
  ),
  'accept-less-verification': flag.boolean('accept less verification than the workload had'),
  'accept-changed-signer': flag.boolean('accept an image that somebody else signed than the previous one'),
}

/** The flag of `run` about signatures. */
export const verificationFlags: RunFlags = {
  title: 'Image verification',
  of: ['run'],
  flags: verificationTable,
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions
    extends FlagOptions<typeof verificationTable>,
      Omit<FlagOptions<typeof lessVerificationTable>, keyof typeof verificationTable> {}
}
