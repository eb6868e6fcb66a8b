import * as t from 'typanion'
import { failures as core } from '../../src/errors.ts'
import type { Section } from '../../src/plugin.ts'
import { MODES, type VerificationMode } from './flags.ts'

/** Who made an image, as far as known. All names are compared exactly. */
export interface ImageSigner {
  /** The certificate's name: an e-mail address, or the URL of a workflow. */
  identity?: string
  /** Where the signer logged in. */
  issuer?: string
  /** The source repository in the certificate. */
  repository?: string
  /** Which Sigstore instance, as registry entries name it; absent: the public one. */
  sigstore_url?: string
  /** A signature of theirs was verified; otherwise only the registry entry named them. */
  verified: boolean
}

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig {
    /** The mode of verification when it was run. */
    image_verification?: VerificationMode
    /** Who made the image; an upgrade must come from the same maker. */
    image_signer?: ImageSigner
  }
}

const text = t.isOptional(t.isString())
const signerSchema = t.isObject({
  identity: text,
  issuer: text,
  repository: text,
  sigstore_url: text,
  verified: t.isBoolean(),
})

/** Checks what a run config says about the signature of its image. */
export const verificationSection: Section = {
  keys: ['image_verification', 'image_signer'],
  check({ image_verification: mode, image_signer: signer }) {
    if (mode !== undefined && !MODES.includes(mode)) {
      throw core.usage({ text: `image_verification is one of ${MODES.join(', ')}.` })
    }
    const errors: string[] = []
    if (signer !== undefined && !signerSchema(signer, { errors })) {
      throw core.usage({ text: `image_signer is not valid: ${errors.join('; ').replaceAll('.: ', '')}` })
    }
  },
}
