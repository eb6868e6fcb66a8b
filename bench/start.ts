import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Result } from './result.ts'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const ROUNDS = 40
/** The first rounds fill the page cache, and Node keeps what it has compiled. */
const UNCOUNTED = 2
/** Of the cores' time, what other programs may take of it before the figures tell more about them than about us. */
const MOST_OF_OTHERS = 0.15

const FLAGS = [
  ...['--name', 'a', '--transport', 'stdio', '--runtime', 'docker', '--group', 'default'],
  ...['--host', '127.0.0.1', '--env', 'A=1', '--env', 'B=2', '--label', 'a=b', '--memory', '1g'],
  ...['--cpus', '1', '--network', 'bridge', '--permission-profile', 'network', '--tools', 'a,b'],
  ...['--proxy-mode', 'sse', '--session-ttl', '1h', '--isolate-network', '--trust-proxy-headers'],
  ...['--max-processes', '2', '--spare-processes', '1', '--publish', '1:1'],
]

interface Command {
  readonly args: readonly string[]
  /** How much of an empty Node it may take. */
  readonly goal: number
  /** The exit code that it ends with. */
  readonly status?: number
}

const COMMANDS: Readonly<Record<string, Command>> = {
  version: { args: [program, 'version'], goal: 1.4 },
  list: { args: [program, 'list'], goal: 2 },
  'run --help': { args: [program, 'run', '--help'], goal: 2.2 },
  completion: { args: [program, '__complete', '--', 'ru'], goal: 1.6 },
  // Without a target it fails once all of them have been read.
  'run with 20 flags': { args: [program, 'run', ...FLAGS], goal: 2, status: 2 },
}

/** Milliseconds that a process took. */
interface Taken {
  readonly wall: number
  readonly cpu: number
}

/** Each command against the empty `node` of its round: the median of these ratios, by the processor time of processes. */
export async function run(): Promise<Result> {
  const home = mkdtempSync(join(tmpdir(), 'keelson-bench-'))
  const env = { PATH: process.env.PATH, HOME: home }
  const rounds: Record<string, Taken>[] = []
  let own = 0
  const before = busyMs()
  for (let round = 0; round < ROUNDS + UNCOUNTED; round++) {
    const taken: Record<string, Taken> = { empty: measure(['-e', ''], env) }
    for (const [name, { args, status }] of Object.entries(COMMANDS)) taken[name] = measure(args, env, status)
    own += Object.values(taken).reduce((sum, { cpu }) => sum + cpu, 0)
    if (round >= UNCOUNTED) rounds.push(taken)
  }
  const after = busyMs()
  rmSync(home, { recursive: true, force: true })
  const others = Math.max(0, (after.busy - before.busy - own) / (after.all - before.all))
  const all = (name: string, of: keyof Taken) => rounds.map(taken => taken[name]?.[of] ?? Number.NaN)
  const ratio = (name: string, of: keyof Taken) =>
    median(all(name, of).map((ms, round) => ms / (all('empty', of)[round] ?? Number.NaN)))
  const quickest = (name: string) => Math.min(...all(name, 'wall')) / Math.min(...all('empty', 'wall'))
  const isQuiet = others <= MOST_OF_OTHERS
  return {
    name: 'start',
    conditions: `one process at a time, output into pipes; empty node and commands take turns; the machine was ${isQuiet ? 'quiet' : 'LOADED, so that nothing is decided'}`,
    measured: ROUNDS,
    figures: {
      'empty node, ms of CPU': median(all('empty', 'cpu')),
      ...Object.fromEntries(
        Object.entries(COMMANDS).flatMap(([name, { goal }]) => [
          [`${name} / empty node, CPU (at most ${goal})`, ratio(name, 'cpu')],
          [`${name} / empty node, time, median`, ratio(name, 'wall')],
          [`${name} / empty node, time, the quickest of each`, quickest(name)],
        ]),
      ),
      [`share of the cores that other programs took (at most ${MOST_OF_OTHERS})`]: others,
    },
    ok: isQuiet && Object.entries(COMMANDS).every(([name, { goal }]) => ratio(name, 'cpu') <= goal),
  }
}

/** Bash tells the times of one process to the millisecond; the kernel's counters of children have ten. */
function measure(args: readonly string[], env: NodeJS.ProcessEnv, wanted = 0): Taken {
  const script = 'TIMEFORMAT="%R %U %S"; time "$@" 2>&3'
  const { status, stderr, output } = spawnSync('bash', ['-c', script, 'bash', process.execPath, ...args], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  if (status !== wanted) throw new Error(`${args.join(' ')} ended with ${status}: ${output[3]}`)
  const [wall = 0, user = 0, system = 0] = stderr.split(' ').map(text => Number(text) * 1000)
  return { wall, cpu: user + system }
}

/** How long the cores have been busy, and how long they have been. */
function busyMs(): { busy: number; all: number } {
  const times = cpus().map(core => core.times)
  const all = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0)
  return { all, busy: all - times.reduce((sum, { idle }) => sum + idle, 0) }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
