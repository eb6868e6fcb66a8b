import type { Plugin } from '../../src/plugin.ts'
import { Serve } from './commands/serve.ts'

/** Serves the management API: what the command line does, over HTTP. */
const serve: Plugin = {
  name: 'serve',
  needs: ['callers', 'supervisor'],
  uses: ['callerToken', 'supervisor', 'workloadStore'],
  wants: ['authServers', 'callerAuths'],
  commands: [Serve],
}
export default serve
