import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  image_unverified: {
    status: 422,
    text: (d: { reference: string; reason: string }) => `${d.reference} is not verified: ${d.reason}.`,
    hint: 'It is not run with --image-verification enabled. With warn it runs all the same.',
  },
})
