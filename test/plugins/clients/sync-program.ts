import { readdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'jsonc-parser'
import { deskAt, up } from './desk.ts'

// A process of its own that says its workload runs and brings the files up to date:
// `node sync-program.ts HOME [NAME]`. It ends with 1 when the file lacks a workload that ran before it began.

const [, , home = '', name] = process.argv
const running = join(home, 'running')
await mkdir(running, { recursive: true })
if (name) await writeFile(join(running, name), '')
const expected = readdirSync(running)

const { clients, read } = deskAt(home, () =>
  readdirSync(running)
    .sort()
    .map(it => up(it)),
)
const problems = await clients.sync()
for (const problem of problems) console.error(problem.message)
const { mcpServers } = parse(await read('cursor'))
const missing = expected.filter(it => !Object.hasOwn(mcpServers, it))
if (missing.length) console.error(`missing: ${missing.join(', ')}`)
process.exitCode = missing.length + problems.length ? 1 : 0
