import { delimiter } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { newestVersion } from '../../../src/lib/newest-version.ts'
import { fakeProgram, saying } from '../../support/fake-program.ts'

const NONE = saying('ERROR: No matching distribution found for old')

/** What is found of the package `old` with a pip that does as the script says. */
async function askPypi(script: string) {
  const { PATH = '' } = await fakeProgram('python3', script)
  vi.stubEnv('PATH', `${PATH}${delimiter}${process.env.PATH}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  return newestVersion({ scheme: 'uvx', name: 'old', extras: [] })
}

test('a package of which no version runs on this Python is not called absent', async () => {
  const found = await askPypi(
    `case "$*" in *--ignore-requires-python*) echo "old (1.2.3)"; exit 0 ;; esac\n${NONE}`,
  )
  expect(found).toEqual({ kind: 'unfit', problem: 'old 1.2.3 needs another version of Python.' })
})

test('a package that the index does not have is absent', async () => {
  expect(await askPypi(NONE)).toEqual({ kind: 'absent', problem: 'the package index has no old.' })
})
