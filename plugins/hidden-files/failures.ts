import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  ignore_too_many: {
    status: 400,
    text: (d: { path: string; most: number }) =>
      `${d.path} holds more than ${d.most} files, too many to search for those that an ignore file hides.`,
    hint: 'Mount a smaller folder.',
  },
  ignore_no_file: {
    status: 400,
    text: (d: { path: string }) =>
      `${d.path} is a link, or not a file. The server may write in that folder, and could replace it.`,
    hint: 'Put a file in its place, or mount the folder read-only.',
  },
})
