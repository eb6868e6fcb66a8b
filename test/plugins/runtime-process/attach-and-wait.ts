/** Attaches to an instance and does nothing more, to be killed: `node attach-and-wait.ts HOME plain|bubblewrap SCRIPT`. */
import { join } from 'node:path'
import { findBubblewrap } from '../../../plugins/runtime-process/find-bubblewrap.ts'
import { createProcessRuntime } from '../../../plugins/runtime-process/process-runtime.ts'
import { fixedPackages } from './fixed-packages.ts'
import { shellInstance } from './instance-spec.ts'

const [home = '', sandbox, script = ''] = process.argv.slice(2)
const path = process.env.PATH ?? ''
const runtime = createProcessRuntime({
  folder: join(home, 'processes'),
  sockets: join(home, 'net'),
  packages: fixedPackages(home),
  bubblewrap:
    sandbox === 'bubblewrap'
      ? () => findBubblewrap(path)
      : async () => ({ works: false, problem: 'not asked for' }),
  path,
})
await runtime.create(shellInstance(script, { stdio: true }))
const { stdout } = await runtime.attach('w')
stdout.pipe(process.stdout)
