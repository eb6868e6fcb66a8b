/** `npm run bench [NAME...]`: measures, prints, and exits 1 when a bound is not kept. Build first. */
import { availableParallelism, loadavg } from 'node:os'
import type { Result } from './result.ts'

const benches: Readonly<Record<string, () => Promise<{ run(): Promise<Result> }>>> = {
  'auth-store': () => import('./auth-store.ts'),
  auth: () => import('./auth.ts'),
  bridge: () => import('./bridge.ts'),
  callers: () => import('./callers.ts'),
  cycles: () => import('./cycles.ts'),
  egress: () => import('./egress.ts'),
  eras: () => import('./eras.ts'),
  isolation: () => import('./isolation.ts'),
  login: () => import('./login.ts'),
  policy: () => import('./policy.ts'),
  proxy: () => import('./proxy.ts'),
  'run-image': () => import('./run-image.ts'),
  serve: () => import('./serve.ts'),
  start: () => import('./start.ts'),
  supervisor: () => import('./supervisor.ts'),
  tools: () => import('./tools.ts'),
}

const names = process.argv.slice(2)
const chosen = Object.keys(benches).filter(name => names.length === 0 || names.includes(name))
let kept = true
const load = loadavg().map(value => value.toFixed(1))
process.stdout.write(`${availableParallelism()} cores; load of this machine before: ${load.join(', ')}\n`)
for (const name of chosen) {
  const result = await (await benches[name]?.())?.run()
  if (!result) continue
  const isMeasured = result.measured > 0 && !Object.values(result.figures).some(Number.isNaN)
  const outcome = isMeasured ? (result.ok ? 'ok' : 'NOT KEPT') : 'NOTHING MEASURED'
  process.stdout.write(`\n${result.name}: ${outcome}\n  ${result.conditions}\n`)
  for (const [what, value] of Object.entries(result.figures)) {
    const shown = typeof value === 'number' ? value.toFixed(value >= 100 ? 0 : 2) : value
    process.stdout.write(`  ${shown.padStart(12)}  ${what}\n`)
  }
  kept &&= isMeasured && result.ok
}
process.exit(kept && chosen.length > 0 ? 0 : 1)
