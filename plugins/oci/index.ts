import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../../src/app.ts'
import type { Plugin } from '../../src/plugin.ts'
import type { Oci } from './service.ts'

export { referrersTag } from './digest.ts'
export { pinReference } from './location.ts'
export type { Descriptor, ImageIndex, ImageManifest, Platform } from './manifest.ts'
export { MEDIA_TYPES } from './media-types.ts'
export type { Manifest } from './pull.ts'
export type { BlobSource } from './push.ts'
export type { Oci } from './service.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    oci: Oci
  }
}

/** Reads from and writes to OCI registries: images, signatures, skills. */
const oci: Plugin = {
  name: 'oci',
  services: { oci: makeOci },
}
export default oci

async function makeOci({ env, paths }: App): Promise<Oci> {
  const [{ createOci }, { createSession }, { createTransport }, { createCredentialFinder }] =
    await Promise.all([
      import('./service.ts'),
      import('./oci-session.ts'),
      import('./transport.ts'),
      import('./credentials.ts'),
    ])
  const insecure = (env.KEELSON_INSECURE_REGISTRIES ?? '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
  const session = createSession({
    send: createTransport({ env, delay: (ms, signal) => delay(ms, undefined, signal ? { signal } : {}) }),
    findCredentials: createCredentialFinder({ env, home: paths.home }),
  })
  return createOci({ session, insecure: new Set(insecure) })
}
