import { defineFailures } from '../errors.ts'

export const unenforcedFailures = defineFailures({
  section_unenforced: {
    status: 400,
    text: (d: { members: readonly string[] }) =>
      `The run config asks for what this version cannot enforce: ${d.members.join(', ')}.`,
    hint: 'Without it the server would be open to more than it was meant for. Take the member out if it may run like that.',
  },
})
