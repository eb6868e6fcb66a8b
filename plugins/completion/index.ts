import type { Plugin } from '../../src/plugin.ts'
import { Complete } from './commands/complete.ts'
import { Completion } from './commands/completion.ts'

/** Completes commands, flags, values and names in four shells. */
const completion: Plugin = {
  name: 'completion',
  wants: ['clients', 'groups', 'registry', 'runtimes', 'secrets', 'serverTools'],
  commands: [Completion, Complete],
}
export default completion
