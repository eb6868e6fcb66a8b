import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  image_unverified: {
    status: 422,
    text: (d: { reference: string; reason: string }) => `${d.reference} is not verified: ${d.reason}.`,
    hint: '--image-verification enabled refuses such an image. If you trust it, run it with --image-verification warn.',
  },
  signer_changed: {
    status: 422,
    text: (d: { reference: string; before: string; after: string }) =>
      `The maker of ${d.reference} changed: it was ${d.before}, and is now ${d.after}.`,
    hint: 'If you know why and trust the new one, upgrade on the command line with --accept-changed-signer.',
  },
  signature_lost: {
    status: 422,
    text: (d: { reference: string; before: string; reason: string }) =>
      `${d.reference} is not verified: ${d.reason}. The previous image was made by ${d.before}.`,
    hint: 'To accept it, upgrade on the command line with --accept-less-verification. In a run config, image_signer says who is expected.',
  },
  verification_lowered: {
    status: 400,
    exit: 2,
    text: (d: { name: string; before: string; wanted: string }) =>
      `"${d.name}" was run with --image-verification ${d.before}; ${d.wanted} would be less strict.`,
    hint: 'To accept that, add --accept-less-verification.',
  },
})
