import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  settings_unreadable: {
    status: 500,
    text: (d: { path: string; aside: string; problem: string }) =>
      `The settings in ${d.path} cannot be read: ${d.problem}. The file was moved to ${d.aside}; nothing else was changed.`,
    hint: d => `Repair it and move it back, or go on with default settings: \`mv ${d.aside} ${d.path}\`.`,
  },
})
