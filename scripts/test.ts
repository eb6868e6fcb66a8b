/** `npm test`: sets up what the tests need, says what cannot be had, builds, runs all tests. */
import { spawnSync } from 'node:child_process'

const run = (command: string, ...args: string[]): number =>
  spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] }).status ?? 1

const MISSING = 3

const engines = run('bash', 'test/support/engines/setup.sh')
if (engines !== 0 && engines !== MISSING) {
  process.stderr.write('The engines could not be set up; see above.\n')
  process.exit(engines)
}
if (engines === MISSING) {
  process.stderr.write('Tests that need a container engine are left out, because of what is missing above.\n')
}
const built = run('npm', 'run', '--silent', 'build')
const failed = built || run('vitest', 'run', ...process.argv.slice(2))
if (failed || !process.env.CI || engines === MISSING) process.exit(failed)

// Kills the engine that all the other tests use, so it comes when they are done.
process.env.KEELSON_TEST_ENGINE_KILL = '1'
process.exit(run('vitest', 'run', 'test/e2e/engine-kill.test.ts'))
