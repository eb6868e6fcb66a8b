/**
 * `npm run bench [-- --page [--force] | --compare] [NAME...]`: measures, prints, and exits 1 when a goal is not kept.
 * Build first. With `--page` the results become `docs/performance.md`, unless they are a part of the benchmarks or the
 * machine was loaded (`--force` writes them, and the page says so). `--compare` measures other programs beside ours.
 * A benchmark whose program is absent is named as not run. All of them take about 20 minutes.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { busyCores } from './busy.ts'
import { findPrograms } from './found-programs.ts'
import {
  type Measured,
  outcomeOf,
  problemsOf,
  toCores,
  toPage,
  toSeconds,
  toText,
  type Unmeasured,
} from './page.ts'
import type { Result } from './result.ts'

type Benches = Readonly<Record<string, () => Promise<{ run(): Promise<Result> }>>>

const benches: Benches = {
  'auth-store': () => import('./auth-store.ts'),
  auth: () => import('./auth.ts'),
  bridge: () => import('./bridge.ts'),
  callers: () => import('./callers.ts'),
  creates: () => import('./creates.ts'),
  cycles: () => import('./cycles.ts'),
  egress: () => import('./egress.ts'),
  endpoint: () => import('./endpoint.ts'),
  eras: () => import('./eras.ts'),
  held: () => import('./held.ts'),
  idle: () => import('./idle.ts'),
  isolation: () => import('./isolation.ts'),
  login: () => import('./login.ts'),
  pack: () => import('./pack.ts'),
  policy: () => import('./policy.ts'),
  proxy: () => import('./proxy.ts'),
  'run-image': () => import('./run-image.ts'),
  'run-image-podman': () => import('./run-image-podman.ts'),
  'run-package': () => import('./run-package.ts'),
  serve: () => import('./serve.ts'),
  start: () => import('./start.ts'),
  'tool-modes': () => import('./tool-modes.ts'),
  tools: () => import('./tools.ts'),
}

/** The program that a benchmark cannot do without. */
const NEEDS: Readonly<Record<string, string>> = {
  'auth-store': 'redis-server',
  bridge: 'docker',
  creates: 'docker',
  cycles: 'docker',
  held: 'docker',
  idle: 'docker',
  'run-image': 'docker',
  'run-image-podman': 'podman',
}

const comparisons: Benches = {
  bridge: () => import('./compare-bridges.ts'),
  'run-image': () => import('./compare-runs.ts'),
}

const { values, positionals: names } = parseArgs({
  options: { page: { type: 'boolean' }, force: { type: 'boolean' }, compare: { type: 'boolean' } },
  allowPositionals: true,
})
const all = values.compare ? comparisons : benches
const isChosen = (name: string) => names.length === 0 || names.includes(name)
const leftOut = Object.keys(all).filter(name => !isChosen(name))
const unknown = names.filter(name => !Object.hasOwn(all, name))
if (unknown.length || (values.page && values.compare)) {
  process.stderr.write(`There are ${Object.keys(all).join(', ')}. A comparison is no page.\n`)
  process.exit(2)
}
if (values.page && !values.force && leftOut.length) {
  process.stderr.write('A part of the benchmarks is no page. With --force it is, and says so.\n')
  process.exit(2)
}
const measured: Measured[] = []
const unmeasured: Unmeasured[] = []
const failed: string[] = []
for (const [name, load] of Object.entries(all)) {
  if (!isChosen(name)) continue
  const program = NEEDS[name]
  if (program && findPrograms([{ program }]).found.length === 0) {
    noteNotRun(name, `there is no ${program} in the PATH`)
    continue
  }
  const bench = await load()
  const busy = await busyCores()
  const began = performance.now()
  const result = await bench.run().catch((error: Error) => {
    failed.push(name)
    noteNotRun(name, `it failed: ${error.message}`)
  })
  if (!result) continue
  const seconds = (performance.now() - began) / 1000
  measured.push({ result, busy, seconds })
  process.stdout.write(
    `\n${result.name}: ${outcomeOf(result)}\n  ${result.conditions}; ${toCores(busy)}; ${toSeconds(seconds)}\n`,
  )
  for (const [what, value] of Object.entries(result.figures)) {
    process.stdout.write(`  ${toText(value).padStart(18)}  ${what}\n`)
  }
}
if (values.page) {
  const problems = problemsOf(measured, [...leftOut, ...failed])
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  if (problems.length && !values.force) {
    process.stderr.write('docs/performance.md stays as it is. With --force it is written, and says so.\n')
    process.exit(2)
  }
  writeFileSync('docs/performance.md', toPage(measured, unmeasured, { problems, date: new Date() }))
}
process.exit(failed.length === 0 && measured.every(({ result }) => outcomeOf(result) === 'ok') ? 0 : 1)

function noteNotRun(name: string, reason: string): void {
  unmeasured.push({ name, reason })
  process.stdout.write(`\n${name}: not run: ${reason}\n`)
}
