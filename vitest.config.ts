import { defineConfig } from 'vitest/config'

export default defineConfig({
  define: { __KEELSON_BUILD__: '"test"' },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    // Real engines and registries have bad moments. What passed only at a second try is named in the report.
    retry: process.env.CI ? 2 : 0,
    // Node finds its CommonJS files; vite would hand Node the ES modules, whose imports Node does not resolve.
    server: { deps: { inline: ['clipanion'] } },
  },
})
