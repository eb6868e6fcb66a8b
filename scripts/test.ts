/**
 * `npm test`: sets up what the tests need, says what cannot be had, builds, runs all tests, counts.
 * `npm run test:long` does the same with longer series of kills and random inputs (test/support/series.ts).
 * Other arguments go to vitest.
 */
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'

/** The exit code of the engines' set-up where it cannot set them up. */
const MISSING = 3

const run = (command: string, ...args: string[]): number =>
  spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] }).status ?? 1

const args = process.argv.slice(2)
if (args.includes('--long')) process.env.KEELSON_TEST_LONG = '1'
const engines = run('bash', 'test/support/engines/setup.sh')
if (engines !== 0 && engines !== MISSING) {
  process.stderr.write('The engines could not be set up; see above.\n')
  process.exit(engines)
}
if (engines === MISSING) {
  process.stderr.write('Tests that need a container engine are left out, because of what is missing above.\n')
}

const reporters = ['--reporter=default', '--reporter=./scripts/test-summary.ts']
let status = run('npm', 'run', '--silent', 'build')
process.env.KEELSON_TEST_MAIN = resolve('dist/main.js')
status ||= run('vitest', 'run', ...reporters, ...args.filter(arg => arg !== '--long'))
process.exit(status)
