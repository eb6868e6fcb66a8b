import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  skill_missing: {
    status: 400,
    text: (d: { folder: string }) => `There is no SKILL.md in ${d.folder}.`,
    hint: 'Name the folder in which the SKILL.md of the skill lies.',
  },
  skill_invalid: {
    status: 422,
    text: (d: { problem: string; line?: number | undefined; hint?: string | undefined }) =>
      `SKILL.md${d.line ? `, line ${d.line}` : ''}: ${d.problem}`,
    hint: d => d.hint,
  },
  skill_unreadable: {
    status: 500,
    text: (d: { path: string; problem: string }) => `${d.path} cannot be read: ${d.problem}`,
  },
  skill_tree_refused: {
    status: 422,
    text: (d: { problem: string }) => `What is in the skill's folder is not allowed. ${d.problem}`,
    hint: 'A skill consists of ordinary files in ordinary folders.',
  },
  skill_archive_refused: {
    status: 422,
    text: (d: { problem: string }) => `The skill's archive is refused: ${d.problem}`,
    hint: 'Nothing of it was kept. Tell whoever published it.',
  },
})
