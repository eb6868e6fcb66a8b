/**
 * `npm run bench [-- --page] [NAME...]`: measures, prints, and exits 1 when a bound is not kept. Build first. With
 * `--page` the results become `docs/performance.md`.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { type Measured, outcomeOf, toPage, toText } from './page.ts'
import type { Result } from './result.ts'

const benches: Readonly<Record<string, () => Promise<{ run(): Promise<Result> }>>> = {
  'auth-store': () => import('./auth-store.ts'),
  auth: () => import('./auth.ts'),
  bridge: () => import('./bridge.ts'),
  callers: () => import('./callers.ts'),
  cycles: () => import('./cycles.ts'),
  egress: () => import('./egress.ts'),
  endpoint: () => import('./endpoint.ts'),
  eras: () => import('./eras.ts'),
  idle: () => import('./idle.ts'),
  isolation: () => import('./isolation.ts'),
  login: () => import('./login.ts'),
  policy: () => import('./policy.ts'),
  proxy: () => import('./proxy.ts'),
  'run-image': () => import('./run-image.ts'),
  'run-package': () => import('./run-package.ts'),
  serve: () => import('./serve.ts'),
  start: () => import('./start.ts'),
  tools: () => import('./tools.ts'),
}

const words = process.argv.slice(2)
const names = words.filter(word => word !== '--page')
const chosen = Object.keys(benches).filter(name => names.length === 0 || names.includes(name))
const measured: Measured[] = []
const load = loadavg().map(value => value.toFixed(1))
process.stdout.write(`${availableParallelism()} cores; load of this machine before: ${load.join(', ')}\n`)
for (const name of chosen) {
  const [load = 0] = loadavg()
  const result = await (await benches[name]?.())?.run()
  if (!result) continue
  measured.push({ result, load })
  process.stdout.write(`\n${result.name}: ${outcomeOf(result)}\n  ${result.conditions}\n`)
  for (const [what, value] of Object.entries(result.figures)) {
    process.stdout.write(`  ${toText(value).padStart(12)}  ${what}\n`)
  }
}
if (words.includes('--page')) writeFileSync('docs/performance.md', toPage(measured, new Date()))
process.exit(measured.length > 0 && measured.every(({ result }) => outcomeOf(result) === 'ok') ? 0 : 1)
