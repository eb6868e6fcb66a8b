/** `npm run check`: types, lint, layering, unused code, docs in step, the package as others install it. */
import { spawnSync } from 'node:child_process'
import { checkEagerLibraries } from './eager-libraries.ts'
import { findEmptyTests } from './empty-tests.ts'
import { checkLayering } from './layering.ts'
import { findLongest } from './longest.ts'

const steps: readonly (readonly [what: string, command: string, ...args: string[]])[] = [
  ['build', 'npm', 'run', '--silent', 'build'],
  ['types', 'tsc', '--noEmit'],
  ['types of the page', 'tsc', '-p', 'plugins/serve/ui'],
  ['lock file whole', 'node', 'scripts/complete-lock.ts', '--check'],
  ['lint', 'biome', 'check', '--error-on-warnings', '.'],
  ['unused code', 'knip'],
  ['docs in step', 'vitest', 'run', 'test/docs'],
  ['package', 'publint', '--strict'],
  ['package types', 'attw', '--pack', '.', '--profile', 'esm-only'],
]

let failed = 0
const report = (what: string, ok: boolean, output = '') => {
  process.stdout.write(`${ok ? 'ok  ' : 'FAIL'}  ${what}\n`)
  if (ok) return
  failed++
  process.stdout.write(`${output.trim()}\n\n`)
}

const violations = checkLayering()
report('layering', violations.length === 0, violations.join('\n'))
const eager = checkEagerLibraries()
report('commands load what they use', eager.length === 0, eager.join('\n'))
const empty = findEmptyTests()
report('tests that check something', empty.length === 0, empty.join('\n'))
for (const [what, command, ...args] of steps) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  report(what, status === 0, `${stdout}${stderr}`)
}

const { files, functions } = findLongest()
const show = (what: string, list: typeof files) =>
  process.stdout.write(
    `\nLongest ${what} (lines):\n${list.map(({ place, lines }) => `  ${lines}  ${place}\n`).join('')}`,
  )
show('files', files)
show('functions', functions)
process.exitCode = failed ? 1 : 0
