/**
 * `npm run quickstart`: runs a real MCP server behind a local URL and calls one of its tools.
 * `npm run quickstart -- --clean` takes it down again.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const NAME = 'quickstart'
const SERVER = 'npx://@modelcontextprotocol/server-everything'
const CHECK = '`npx keelson runtime check` tells which runtimes can be used.'
const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))

interface Result {
  readonly ok: boolean
  readonly stdout: string
  readonly stderr: string
}

/** Runs keelson; with `show` its progress goes straight to the terminal. */
function keelson(args: readonly string[], { show = false } = {}): Result {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', show ? 'inherit' : 'pipe'],
  })
  return { ok: status === 0, stdout: stdout.trim(), stderr: (stderr ?? '').trim() }
}

const say = (text = '') => process.stdout.write(`${text}\n`)

function end(problem: string, detail: string): never {
  process.stderr.write(`${problem}\n${detail}\n`)
  process.exit(1)
}

/**
 * Runs the server on the best runtime; an engine that cannot fetch base images makes room for the process
 * runtime, which needs a sandbox for what it does not know.
 */
function start(): string {
  const there = keelson(['status', NAME, '--format', 'json'])
  if (there.ok) {
    const started = keelson(['start', NAME], { show: true })
    if (!started.ok) end('The quickstart workload is there but does not start.', started.stderr)
    return String(JSON.parse(there.stdout).url)
  }
  const best = keelson(['run', SERVER, '--name', NAME], { show: true })
  if (best.ok) return best.stdout
  say('That did not work (see above); trying without an engine.')
  const embedded = keelson(['run', SERVER, '--name', NAME, '--runtime', 'process'], { show: true })
  if (embedded.ok) return embedded.stdout
  if (hasSandbox()) end('The server could not be run.', CHECK)
  say(`There is no sandbox here. ${SERVER} is the MCP project's own, so this one is run without.`)
  const bare = keelson(['run', SERVER, '--name', NAME, '--no-sandbox'], { show: true })
  if (!bare.ok) end('The server could not be run.', CHECK)
  return bare.stdout
}

/** Whether the process runtime could have run it; what failed was something else then. */
function hasSandbox(): boolean {
  const { stdout } = keelson(['runtime', 'check', '--runtime', 'process', '--format', 'json'])
  return JSON.parse(stdout)[0].usable
}

if (process.argv.includes('--clean')) {
  const removed = keelson(['rm', NAME, '--ignore-missing'], { show: true })
  if (removed.ok) say('The quickstart workload is gone.')
  process.exit(removed.ok ? 0 : 1)
}

const url = start()
const call = keelson(['mcp', 'call', 'echo', '--server', NAME, '--args', '{"message":"hello from keelson"}'])
if (!call.ok) end(`${NAME} runs at ${url}, but its tool could not be called.`, call.stderr)

say()
say(`  A real MCP server runs behind   ${url}`)
say(`  Its tool "echo" returned        ${call.stdout}`)
say()
say('Next:')
say('  npx keelson list                               what runs, and where')
say(`  npx keelson mcp list --server ${NAME}       its tools, resources and prompts`)
say('  npx keelson list --format mcpservers           what to paste into an MCP client')
say('  npx keelson run --help                         run your own')
say('  npm run quickstart -- --clean                  take this one down')
