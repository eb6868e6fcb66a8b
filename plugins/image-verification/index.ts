import { join } from 'node:path'
import type { App } from '../../src/app.ts'
import type { Plugin } from '../../src/plugin.ts'
import { verificationSection } from './section.ts'
import type { ImageVerification } from './service.ts'

export { assertNotLowered } from './assert-not-lowered.ts'
export { lessVerificationTable, MODES, type VerificationMode } from './flags.ts'
export type { Provenance } from './provenance.ts'
export { toProvenance } from './same-signer.ts'
export type { ImageSigner } from './section.ts'
export type { Accepted, Admission, ImageVerification, Verdict } from './service.ts'
export type { SignerClaims } from './signer-claims.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    imageVerification: ImageVerification
  }
}

/** Checks who built and signed an image before it runs. */
const imageVerification: Plugin = {
  name: 'image-verification',
  needs: ['oci'],
  uses: ['oci'],
  services: { imageVerification: makeImageVerification },
  provides: { sections: [verificationSection] },
}
export default imageVerification

async function makeImageVerification(app: App): Promise<ImageVerification> {
  const [{ createImageVerification }, { createTrustRoots }] = await Promise.all([
    import('./service.ts'),
    import('./trust-roots.ts'),
  ])
  const cacheFolder = join(app.paths.cache, 'sigstore')
  const refresh = async (mirror: string) =>
    (await import('./refresh-trust-root.ts')).refreshTrustRoot(mirror, join(cacheFolder, 'tuf'))
  const trustRoots = createTrustRoots({
    cacheFolder,
    file: app.env.KEELSON_SIGSTORE_TRUSTED_ROOT,
    refresh: app.env.KEELSON_SIGSTORE_OFFLINE ? undefined : refresh,
    debug: message => app.log.debug(message),
    warn: message => app.log.warn(message),
  })
  return createImageVerification({ oci: await app.service('oci'), trustRoots })
}
