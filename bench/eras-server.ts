// A stdio server of one era, the first argument: `legacy` or `stateless`. It responds to each call with 950 bytes.
import { createInterface } from 'node:readline'

const isLegacy = process.argv[2] === 'legacy'
const serverInfo = { name: 'bench', version: '1' }
const capabilities = { tools: {} }
const called = { content: [{ type: 'text', text: 'x'.repeat(950) }] }

const RESULTS: Readonly<Record<string, object>> = isLegacy
  ? {
      initialize: { protocolVersion: '2025-11-25', capabilities, serverInfo },
      ping: {},
      'tools/call': called,
    }
  : {
      'server/discover': {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities,
        serverInfo,
        ttlMs: 0,
        cacheScope: 'private',
      },
      'tools/call': { resultType: 'complete', ...called },
    }
/** What a stateless server says to what does not name its revision, as `initialize` does not. */
const OTHER = { code: isLegacy ? -32601 : -32022, message: 'not here' }

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return
  const result = RESULTS[method]
  process.stdout.write(
    `${JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: OTHER }) })}\n`,
  )
})
