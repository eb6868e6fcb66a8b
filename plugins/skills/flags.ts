import type { FlagTable } from '../../src/cli/flags.ts'
import { flag } from '../../src/cli/flags.ts'

/** Flags that several commands of skills share. */
export const skillFlags = {
  scope: flag.choice('for the user everywhere, or for one project', ['user', 'project']),
  'project-root': flag.string('the project; by default the one that the working folder is in', {
    placeholder: 'FOLDER',
    completes: 'directory',
  }),
  clients: flag.commaList('for these client applications; all: those that are installed', 'CLIENT', {
    shown: 'all',
  }),
  format: flag.choice('how to print', ['text', 'json'], 'text'),
  yes: flag.boolean('do it without asking'),
  'allow-unsigned': flag.boolean('accept unsigned skills too'),
} satisfies FlagTable
