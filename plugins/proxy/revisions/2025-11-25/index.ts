import type { Revision } from '../revision.ts'

/** Revisions up to 2025-11-25: `initialize`, sessions, GET streams, DELETE. */
export const revision20251125: Revision = {
  version: '2025-11-25',
  sessions: true,
  methods: undefined,
  probe: Buffer.from(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 'keelson-init-check',
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'keelson', version: '1' },
      },
    }),
  ),
}
