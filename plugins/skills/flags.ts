import type { FlagTable } from '../../src/cli/flags.ts'
import { flag } from '../../src/cli/flags.ts'

/** Flags that several commands of skills share. */
export const skillFlags = {
  scope: flag.choice('skills of the user, or of a project', ['user', 'project']),
  'project-root': flag.string('folder of the project (default: the one that the working folder is in)', {
    placeholder: 'FOLDER',
    completes: 'directory',
  }),
  clients: flag.commaList('client applications; all: those that are installed', 'CLIENT', {
    shown: 'all',
  }),
  format: flag.choice('output format', ['text', 'json'], 'text'),
  yes: flag.boolean('do not ask'),
  'allow-unsigned': flag.boolean('accept unsigned skills too'),
} satisfies FlagTable
