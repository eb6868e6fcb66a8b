/** Attaches to an instance and does nothing more, to be killed: `node attach-and-wait.ts HOME plain|bubblewrap SCRIPT`. */
import { hostRuntime } from './host-runtime.ts'
import { shellInstance } from './shell-instance.ts'

const [home = '', sandbox, script = ''] = process.argv.slice(2)
const runtime = hostRuntime(home, { sandbox: sandbox === 'bubblewrap' })
await runtime.create(shellInstance(script, { stdio: true }))
const { stdout } = await runtime.attach('w')
stdout.pipe(process.stdout)
