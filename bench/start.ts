import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Result } from './result.ts'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const ROUNDS = 25
/** The first rounds fill the page cache, and Node keeps what it has compiled. */
const UNCOUNTED = 2
/** Of the fields of `stat`; Linux has 100 ticks in a second. */
const MS_PER_TICK = 10

const FLAGS = [
  ...[
    '--name',
    'a',
    '--transport',
    'stdio',
    '--runtime',
    'docker',
    '--group',
    'default',
    '--host',
    '127.0.0.1',
  ],
  ...[
    '--env',
    'A=1',
    '--env',
    'B=2',
    '--label',
    'a=b',
    '--memory',
    '1g',
    '--cpus',
    '1',
    '--network',
    'bridge',
  ],
  ...['--permission-profile', 'network', '--tools', 'a,b', '--proxy-mode', 'sse', '--session-ttl', '1h'],
  ...[
    '--isolate-network',
    '--trust-proxy-headers',
    '--max-processes',
    '2',
    '--spare-processes',
    '1',
    '--publish',
    '1:1',
  ],
]

/** A command, how much of an empty Node it may take, and the exit code that it ends with. */
const COMMANDS: Readonly<Record<string, { args: readonly string[]; goal: number; status?: number }>> = {
  version: { args: ['version'], goal: 1.4 },
  list: { args: ['list'], goal: 2 },
  'run --help': { args: ['run', '--help'], goal: 2.2 },
  completion: { args: ['__complete', '--', 'ru'], goal: 1.6 },
  // Without a target it fails once all of them have been read.
  'run with 20 flags': { args: ['run', ...FLAGS], goal: 2, status: 2 },
}

/** Milliseconds of CPU of all children of this process that have ended: proc(5), fields 16 and 17 of `stat`. */
function cpuOfChildren(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * MS_PER_TICK
}

/** Milliseconds of CPU of one process. A tick is coarse, so only the sum of many is exact. */
function measure(args: readonly string[], env: NodeJS.ProcessEnv, wanted = 0): number {
  const before = cpuOfChildren()
  const { status, stderr } = spawnSync(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  if (status !== wanted) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`)
  return cpuOfChildren() - before
}

/** CPU of whole processes against an empty `node`, in turns, so that all meet the same machine. */
export async function run(): Promise<Result> {
  const env = { PATH: process.env.PATH, HOME: mkdtempSync(join(tmpdir(), 'keelson-bench-')) }
  const sums: Record<string, number> = {}
  for (let round = 0; round < ROUNDS + UNCOUNTED; round++) {
    const counts = round >= UNCOUNTED
    const add = (kind: string, ms: number) => {
      sums[kind] = (sums[kind] ?? 0) + (counts ? ms : 0)
    }
    add('empty', measure(['-e', ''], env))
    for (const [kind, { args, status }] of Object.entries(COMMANDS))
      add(kind, measure([program, ...args], env, status))
  }
  const ratio = (kind: string) => (sums[kind] ?? Number.NaN) / (sums.empty ?? Number.NaN)
  return {
    name: 'start',
    conditions: 'CPU of one process at a time; empty node and commands take turns',
    measured: ROUNDS,
    figures: {
      'empty node, ms': (sums.empty ?? Number.NaN) / ROUNDS,
      ...Object.fromEntries(
        Object.entries(COMMANDS).map(([kind, { goal }]) => [
          `${kind} / empty node (at most ${goal})`,
          ratio(kind),
        ]),
      ),
    },
    ok: Object.entries(COMMANDS).every(([kind, { goal }]) => ratio(kind) <= goal),
  }
}
