import { defineFailures } from '../errors.ts'

export const unenforcedFailures = defineFailures({
  section_unenforced: {
    status: 400,
    text: (d: { members: readonly string[] }) =>
      `The run config asks for features that this version cannot enforce: ${d.members.join(', ')}.`,
    hint: 'Without them the server would be less protected than intended. If that is acceptable, remove the members.',
  },
  middleware_differs: {
    status: 400,
    text: (d: { type: string; member: string }) =>
      `The entry "${d.type}" of middleware_configs contradicts the run config (${d.member}).`,
    hint: 'Correct the one that is wrong, or remove the entry: the members of the run config are enough.',
  },
})
