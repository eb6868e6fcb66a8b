import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Result } from './result.ts'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const ROUNDS = 25

/** Milliseconds of one whole process. */
function time(args: readonly string[], env: NodeJS.ProcessEnv): number {
  const start = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`)
  return performance.now() - start
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** Start of whole processes against an empty `node`, interleaved so that all meet the same machine. */
export async function run(): Promise<Result> {
  const home = mkdtempSync(join(tmpdir(), 'keelson-bench-'))
  const env = { PATH: process.env.PATH, HOME: home }
  const kinds = { empty: ['-e', ''], version: [program, 'version'], list: [program, 'list'] }
  const times = { empty: [] as number[], version: [] as number[], list: [] as number[] }
  for (let round = 0; round < ROUNDS + 2; round++) {
    for (const [kind, args] of Object.entries(kinds)) {
      const ms = time(args, env)
      if (round >= 2) times[kind as keyof typeof times].push(ms) // the first rounds fill the page cache
    }
  }
  const empty = median(times.empty)
  const ratio = (kind: 'version' | 'list') => median(times[kind]) / empty
  return {
    name: 'start',
    conditions: 'one process at a time; empty node and program take turns',
    measured: times.list.length,
    figures: {
      'empty node, median ms': empty,
      'version / empty node (at most 2)': ratio('version'),
      'list / empty node (at most 4)': ratio('list'),
    },
    ok: ratio('version') <= 2 && ratio('list') <= 4,
  }
}
