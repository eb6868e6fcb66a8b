import { sectionRequest } from '../../src/http/section-request.ts'
import { bool, type ObjectOf, object, oneOf, optional, type TypeOf, text } from '../../src/lib/schema.ts'
import { wordOrEmpty } from '../../src/lib/text-schema.ts'
import type { Section } from '../../src/plugin.ts'
import { MODES } from './flags.ts'

const imageSigner = object(
  {
    /** The certificate's name: an e-mail address, or the URL of a workflow. */
    identity: optional(text),
    /** Where the signer logged in. */
    issuer: optional(text),
    /** The source repository in the certificate. */
    repository: optional(text),
    /** Which Sigstore instance, as registry entries name it; absent: the public one. */
    sigstore_url: optional(text),
    /** A signature of theirs was verified; otherwise only the registry entry named them. */
    verified: bool,
  },
  { additionalProperties: false },
)

/** Who made an image, as far as known. All names are compared exactly. */
export type ImageSigner = TypeOf<typeof imageSigner>

const members = {
  /** The mode of verification when it was run. */
  image_verification: optional(oneOf(MODES)),
  /** Who made the image; an upgrade must come from the same maker. */
  image_signer: optional(imageSigner),
}

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

const request = sectionRequest({
  body: { image_verification: optional(wordOrEmpty(MODES)) },
  toOptions: ({ image_verification: mode }) => ({ 'image-verification': mode || undefined }),
  kept: ['image_verification'],
})

/** What a run config says about the signature of its image. */
export const verificationSection: Section = { members, request }
