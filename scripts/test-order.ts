/** The order of the test files: those that take longest start first, so that all workers end at about the same time. */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Folders and files whose tests wait for container engines, supervisors and browsers. */
const LONGEST = [
  'test/hostile/image-builds.test.ts',
  'test/plugins/upgrade/apply.test.ts',
  'test/hostile/package-installs.test.ts',
  'test/e2e/without-plugins.test.ts',
  'test/hostile/secrets-consent.test.ts',
  'test/hostile/registry-entries.test.ts',
  'test/e2e/isolation-elsewhere.test.ts',
  'test/plugins/secrets/leaks.test.ts',
  'test/hostile/kept.test.ts',
  'test/e2e/hostile.test.ts',
  'test/hostile/sandbox.test.ts',
  'test/e2e/chaos.test.ts',
  'test/plugins/recipes/',
  'test/plugins/runtime-process/real-packages.test.ts',
  'test/hostile/',
  'test/e2e/',
  'test/plugins/upgrade/',
  'test/plugins/runtime-',
  'test/plugins/supervisor/',
  'test/plugins/serve/',
  'test/plugins/skills/',
]

const rank = ({ moduleId }: TestSpecification): number => {
  const place = relative(process.cwd(), moduleId)
  const found = LONGEST.findIndex(start => place.startsWith(start))
  return found === -1 ? LONGEST.length : found
}

export default class TestOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
