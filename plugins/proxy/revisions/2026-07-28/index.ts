import { VERSION } from '../../../../src/build-info.ts'
import type { Revision } from '../revision.ts'

const metaOf = (version: string) => ({
  _meta: {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'keelson', version: VERSION },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
})

/** Parameters that say nothing but who asks, and how. */
export const META_2026 = metaOf('2026-07-28')

/**
 * Parameters of a request of a revision that does not exist. A server that reads request metadata refuses it with
 * UnsupportedProtocolVersion, whatever the method. An older server does not read them.
 */
export const META_UNKNOWN = metaOf('1900-01-01')

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
