import { VERSION } from '../../../../src/build-info.ts'
import type { Revision } from '../revision.ts'

/** The parameters of an `initialize` of keelson itself. */
export const INITIALIZE_2025 = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'keelson', version: VERSION },
}

/** Revisions up to 2025-11-25: `initialize`, sessions, GET streams, DELETE. */
export const revision20251125: Revision = {
  version: INITIALIZE_2025.protocolVersion,
  sessions: true,
  methods: undefined,
  probe: Buffer.from(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 'keelson-init-check',
      method: 'initialize',
      params: INITIALIZE_2025,
    }),
  ),
}
