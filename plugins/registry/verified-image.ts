import type { App } from '../../src/app.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { ResolveContext } from '../../src/contracts/target.ts'
import type { ImageServer } from './formats/legacy.ts'

/** A verified image, as the run config stores it. */
export type VerifiedImage = Required<Pick<RunConfig, 'image'>> &
  Pick<RunConfig, 'image_verification' | 'image_signer'>

/**
 * Returns the image of an entry as it is to be run: by digest if its signature matches the entry, so it cannot be
 * swapped. Fails when it must be verified and is not, and when its signer is not the one of the workload's
 * previous image.
 */
export async function verifiedImage(
  app: App,
  { image, provenance }: ImageServer,
  { options, before, signal, report }: ResolveContext,
): Promise<VerifiedImage> {
  // Absent where the plugin that checks signatures is.
  const mode = options['image-verification']
  if (!mode) return { image }
  if (mode !== 'disabled') report?.(`Checking the signature of ${image}`)
  const verification = await app.service('imageVerification')
  const { reference, warnings, signer } = await verification.admit(image, provenance, mode, {
    before: before?.image_signer,
    accepted: {
      changedSigner: options['accept-changed-signer'] === true,
      lessVerification: options['accept-less-verification'] === true,
    },
    signal,
  })
  for (const warning of warnings) app.log.warn(warning)
  return { image: reference, image_verification: mode, ...(signer ? { image_signer: signer } : {}) }
}
