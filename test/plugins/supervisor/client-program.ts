import { createSupervisorClient } from '../../../plugins/supervisor/supervisor-client.ts'
import { findPaths } from '../../../src/paths.ts'

// One command's part: makes sure that a supervisor runs, then does what the arguments say.

const [, , supervisor = '', build = '', verb = '', name = ''] = process.argv
const client = createSupervisorClient({
  paths: findPaths(process.env),
  build,
  launch: () => ({ command: [process.execPath, supervisor, build], env: process.env }),
  host: () => Promise.reject(new Error('not here')),
})
if (verb === 'start' || verb === 'stop' || verb === 'remove') await client[verb](name)
else await client.ensure()
