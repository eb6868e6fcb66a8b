import { afterAll, beforeAll, expect, test } from 'vitest'
import { main } from '../support/main.ts'
import { runClientSuite } from './conformance/run-suite.ts'
import { type Home, openHome } from './home.ts'

// The official suite for clients: at `keelson mcp`, and at an SDK client behind `keelson proxy stdio` and a remote workload.
// Its scenarios of logins are in docs/conformance-auth.md. Those of skills (sep-2640) are left out, because keelson reads
// no skills over MCP.
let home: Home
beforeAll(async () => {
  home = await openHome()
})
afterAll(() => home?.close(), 120_000)

const client = new URL('../conformance/tool-client.ts', import.meta.url).pathname

interface Row {
  readonly scenario: string
  readonly revision: string
  readonly ways: readonly ('mcp' | 'stdio')[]
  /** The checks that do not end well, and why. */
  readonly fails?: Readonly<Record<string, { checks: RegExp; because: string }>>
}

const BOTH = ['mcp', 'stdio'] as const
const ROWS: readonly Row[] = [
  { scenario: 'initialize', revision: '2025-11-25', ways: BOTH },
  { scenario: 'tools_call', revision: '2025-11-25', ways: BOTH },
  { scenario: 'tools_call', revision: '2026-07-28', ways: BOTH },
  { scenario: 'sse-retry', revision: '2025-11-25', ways: BOTH },
  { scenario: 'json-schema-2020-12-preservation', revision: '2026-07-28', ways: BOTH },
  { scenario: 'json-schema-ref-no-deref', revision: '2026-07-28', ways: BOTH },
  { scenario: 'request-metadata', revision: '2026-07-28', ways: BOTH },
  { scenario: 'http-standard-headers', revision: '2026-07-28', ways: BOTH },
  // `mcp call` cannot be asked for anything, and says so: it declares no capabilities.
  { scenario: 'elicitation-sep1034-client-defaults', revision: '2025-11-25', ways: ['stdio'] },
  { scenario: 'sep-2322-client-request-state', revision: '2026-07-28', ways: ['stdio'] },
  { scenario: 'http-custom-headers', revision: '2026-07-28', ways: BOTH },
  { scenario: 'http-invalid-tool-headers', revision: '2026-07-28', ways: BOTH },
]

const RUNS = ROWS.flatMap(row => row.ways.map(way => ({ ...row, way })))
const AT_ONCE = 3

test('the official suite for clients finds no failure but those that have a reason', {
  timeout: 300_000,
}, async () => {
  const env = { ...home.env, KEELSON_TEST_MAIN: main }
  const found: string[] = []
  const waiting = [...RUNS.entries()]
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [number, { scenario, revision, way, fails }] = next
      const command = `${process.execPath} ${client} ${way} suite-${number}`
      const args = ['--scenario', scenario, '--spec-version', revision, '--timeout', '60000']
      const results = await runClientSuite(command, args, env)
      const bad = results
        .filter(line => /(?:FAILURE|WARNING)$/.test(line))
        .map(line => line.split(' ')[1] ?? '')
      const known = fails?.[way]
      const isExpected = known
        ? bad.length > 0 && bad.every(check => known.checks.test(check))
        : results.length > 0 && bad.length === 0
      if (!isExpected)
        found.push(
          `${way} ${scenario} ${revision}: ${bad.join(' ') || `${results.length} checks, no failure`}`,
        )
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  expect(found).toEqual([])
})
