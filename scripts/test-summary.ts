/**
 * What `npm test` prints at its end: what was left out and why, what passed only the second time, the slowest
 * files, the time by folder, the counts.
 */
import { dirname, relative } from 'node:path'
import type { Reporter, TestModule, TestResult } from 'vitest/node'

const SLOWEST = 10
/** A loaded machine may disturb a test or two of many thousands. More say that something is wrong. */
const MOST_SECOND_TRIES = 3

export default class TestSummary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map(module => ({
      place: relative(process.cwd(), module.moduleId),
      seconds: module.diagnostic().duration / 1000,
      tests: [...module.children.allTests()],
    }))
    const counts = { passed: 0, failed: 0, skipped: 0 }
    const leftOut: string[] = []
    const triedAgain: string[] = []
    for (const { place, tests } of files)
      for (const test of tests) {
        const result = test.result()
        // A test that never got a result belongs to a file that failed or was interrupted.
        counts[result.state === 'pending' ? 'failed' : result.state]++
        if (test.diagnostic()?.flaky) triedAgain.push(`  ${place}: ${test.fullName}\n${problemsOf(result)}`)
        if (result.state === 'skipped')
          leftOut.push(`  ${place}: ${test.fullName}\n      ${result.note ?? 'without a reason'}\n`)
      }
    if (leftOut.length > 0) process.stdout.write(`\nLeft out:\n${leftOut.join('')}`)
    if (triedAgain.length > 0) process.stdout.write(`\nPassed only when tried again:\n${triedAgain.join('')}`)
    if (triedAgain.length > MOST_SECOND_TRIES) {
      process.stdout.write(`At most ${MOST_SECOND_TRIES} tests may need a second try: the run fails.\n`)
      process.exitCode = 1
    }
    const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST)
    process.stdout.write('\nSlowest files (seconds):\n')
    for (const { place, seconds } of slowest) process.stdout.write(`  ${seconds.toFixed(1)}  ${place}\n`)
    process.stdout.write('\nSeconds of all workers and files, by folder:\n')
    for (const [folder, { seconds, count }] of byFolder(files))
      process.stdout.write(`  ${seconds.toFixed(0).padStart(5)} ${String(count).padStart(4)}  ${folder}\n`)
    const { passed, failed, skipped } = counts
    process.stdout.write(`\n${passed} passed, ${failed} failed, ${skipped} skipped\n`)
  }
}

/** The first line of each problem, indented. */
const problemsOf = ({ errors = [] }: TestResult): string =>
  errors.map(({ message }) => `      ${message.split('\n', 1)[0]}\n`).join('')

/** The folders, those that take longest first: `test/e2e`, and one for each plugin. */
function byFolder(files: readonly { place: string; seconds: number }[]) {
  const sums = new Map<string, { seconds: number; count: number }>()
  for (const { place, seconds } of files) {
    const parts = dirname(place).split('/')
    const folder = parts.slice(0, parts[1] === 'plugins' ? 3 : 2).join('/')
    const sum = sums.get(folder) ?? { seconds: 0, count: 0 }
    sums.set(folder, { seconds: sum.seconds + seconds, count: sum.count + 1 })
  }
  return [...sums].toSorted(([, a], [, b]) => b.seconds - a.seconds)
}
