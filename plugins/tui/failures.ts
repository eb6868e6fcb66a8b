import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  tui_no_terminal: {
    status: 500,
    exit: 2,
    text: () => '`keelson tui` needs a terminal for its input and its output.',
    hint: '`keelson list` and `keelson logs` work everywhere.',
  },
})
