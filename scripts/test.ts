/** `npm test`: sets up what the tests need, says what cannot be had, builds, runs all tests, counts. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'

const RESULTS = '.keelson-test'
/** What the engines' set-up answers where it cannot set them up. */
const MISSING = 3

const run = (command: string, ...args: string[]): number =>
  spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] }).status ?? 1

const counts = { passed: 0, failed: 0, skipped: 0 }

/** Runs tests and adds up what became of them. */
function runTests(name: string, ...args: string[]): number {
  const file = `${RESULTS}/${name}.json`
  const status = run(
    'vitest',
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
    ...args,
  )
  const results = JSON.parse(readFileSync(file, 'utf8'))
  counts.passed += results.numPassedTests
  counts.failed += results.numFailedTests
  counts.skipped += results.numPendingTests + results.numTodoTests
  return status
}

rmSync(RESULTS, { recursive: true, force: true })
mkdirSync(RESULTS)
const engines = run('bash', 'test/support/engines/setup.sh')
if (engines !== 0 && engines !== MISSING) {
  process.stderr.write('The engines could not be set up; see above.\n')
  process.exit(engines)
}
if (engines === MISSING) {
  process.stderr.write('Tests that need a container engine are left out, because of what is missing above.\n')
}

let status = run('npm', 'run', '--silent', 'build')
status ||= runTests('all', ...process.argv.slice(2))
process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
process.exit(status)
