import type { Plugin } from '../../src/plugin.ts'
import type {} from '../egress/index.ts'
import type {} from '../mcp/index.ts'
import type {} from '../workloads/index.ts'
import { Tui } from './commands/tui.ts'

/** A view of all workloads that fills the terminal, in which one works with keys. */
const tui: Plugin = {
  name: 'tui',
  needs: ['egress', 'mcp', 'workloads'],
  uses: ['egress', 'serverTools', 'workloads'],
  commands: [Tui],
}
export default tui
