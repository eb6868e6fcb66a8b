import type { App } from '../../src/app.ts'
import type { ResolveContext } from '../../src/contracts/target.ts'
import type { ImageServer } from './formats/legacy.ts'

/**
 * The image of an entry as it is to be run: by digest when its signature is what the entry says, so
 * that nothing can come in between. Fails when it must be verified and is not.
 */
export async function verifiedImage(
  app: App,
  { image, provenance }: ImageServer,
  { flags, signal, report }: ResolveContext,
): Promise<string> {
  // Absent where the plugin that checks signatures is.
  const mode = flags['image-verification'] as 'warn' | 'enabled' | 'disabled' | undefined
  if (!mode || mode === 'disabled') return image
  report?.(`Checking the signature of ${image}`)
  const verification = await app.service('imageVerification')
  const { reference, warnings } = await verification.check(image, provenance, mode, { signal })
  for (const warning of warnings) app.log.warn(warning)
  return reference
}
