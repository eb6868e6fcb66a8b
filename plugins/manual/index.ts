import type { Plugin } from '../../src/plugin.ts'
import { Man } from './commands/man.ts'

/** Prints the manual page of the program. */
const manual: Plugin = { name: 'manual', commands: [Man] }
export default manual
