import { defineConfig } from 'vitest/config'
import TestOrder from './scripts/test-order.ts'

export default defineConfig({
  define: { __KEELSON_BUILD__: '"test"' },
  test: {
    include: ['test/**/*.test.ts'],
    // These end what hangs. A machine that other work loads is slow and no failure.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    pool: 'forks',
    // A file waits for engines, programs and browsers half of its time: two leave two cores half idle.
    maxWorkers: 3,
    sequence: { sequencer: TestOrder },
    // A test that fails once is a bug in the test or in the product: the summary names it, and fails the run
    // when there are several (scripts/test-summary.ts).
    retry: 1,
    // Node finds its CommonJS files; vite would hand Node the ES modules, whose imports Node does not resolve.
    server: { deps: { inline: ['clipanion'] } },
  },
})
