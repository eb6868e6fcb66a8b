import type { Plugin } from '../../src/plugin.ts'
import { Complete } from './commands/complete.ts'
import { Completion } from './commands/completion.ts'

/** Completes commands, flags, values and workload names in four shells. */
const completion: Plugin = { name: 'completion', commands: [Completion, Complete] }
export default completion
