import type { Revision } from '../revision.ts'

/** Parameters that say nothing but who asks, and how. */
export const META_2026 = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'keelson', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
}

/** Revision 2026-07-28: stateless; every message is a POST that says all there is to know. */
export const revision20260728: Revision = {
  version: '2026-07-28',
  sessions: false,
  methods: ['POST', 'OPTIONS'],
  probe: Buffer.from(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 'keelson-check',
      method: 'server/discover',
      params: META_2026,
    }),
  ),
}
