import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { ResolveContext } from '../../../src/contracts/target.ts'
import { toProvenance } from '../../image-verification/index.ts'

/**
 * Verifies an image that no registry entry names. Only an earlier run config can say who must have signed it; without
 * one, `enabled` refuses the image.
 */
export async function verifyGiven(
  app: App,
  image: string,
  { options, before, signal, report }: Pick<ResolveContext, 'options' | 'before' | 'signal' | 'report'>,
): Promise<Pick<RunConfig, 'image_verification' | 'image_signer'> & { image: string }> {
  // Absent where the plugin that checks signatures is.
  const mode = options['image-verification']
  if (!mode) return { image }
  const signer = before?.image_signer
  // Made where it is needed: what it checks with takes longer to load than the rest of a run.
  const makeVerification = () => app.service('imageVerification')
  if (!signer) {
    if (mode === 'enabled') await (await makeVerification()).check(image, undefined, mode, { signal })
    return { image, image_verification: mode }
  }
  if (mode !== 'disabled') report?.(`Checking the signature of ${image}`)
  const provenance = toProvenance(signer)
  const verification = await makeVerification()
  // An unchanged image may run even if its registry cannot be reached now.
  const isSame = image === before?.image
  const { reference, warnings } = isSame
    ? await verification.check(image, provenance, mode, { signal })
    : await verification.admit(image, provenance, mode, { before: signer, signal })
  for (const warning of warnings) app.log.warn(warning)
  return { image: reference, image_verification: mode, image_signer: signer }
}
