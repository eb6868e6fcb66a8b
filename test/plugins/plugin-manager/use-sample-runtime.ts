// Run by a test as a program of its own: the test runner's module loader does not know `keelson/plugin`.
import { createApp } from '../../../src/app.ts'
import { thirdPartyEntries } from '../../../src/loader.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { instanceSpec } from '../../support/instance-spec.ts'

const paths = findPaths(process.env)
const log = createLog({ write: line => process.stderr.write(line), human: false, debug: false })
const app = createApp({ paths, log, env: process.env, entries: await thirdPartyEntries(paths, log, []) })

const runtimes = await Promise.all((await app.contributions('runtimes')).map(make => make(app)))
const [runtime] = runtimes
if (!runtime) throw new Error('there is no runtime')
await runtime.create(instanceSpec({ name: 'one', image: 'sample/echo', stdio: true }))
const created = await runtime.inspect('one')
const { stdin, stdout, exit } = await runtime.attach('one')
const running = await runtime.inspect('one')
stdin.write('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":{"text":"ahoy"}}}\n')
const [line] = await stdout.take(1).toArray()
await runtime.remove('one')

console.log(
  JSON.stringify({
    runtimes: runtimes.map(({ name }) => name),
    answer: JSON.parse(String(line)),
    states: [created?.state, running?.state],
    exit: await exit,
    left: await runtime.list(),
  }),
)
