import { memberText, mergeRaw, omitRaw } from '../../../src/lib/raw-json.ts'
import { META_2026 } from '../revisions/index.ts'
import { toModernResult } from './modern-response.ts'
import { withoutTasks } from './without-tasks.ts'

/** The version that clients of the era speak with the proxy. */
export const MODERN_VERSION = META_2026._meta['io.modelcontextprotocol/protocolVersion']

/** Members of the result of `initialize` that stand elsewhere in that of `server/discover`, or are gone. */
const MOVED = new Set(['protocolVersion', 'capabilities', 'serverInfo'])

/** The result of `server/discover` (MCP 2026-07-28), made of that of `initialize`. */
export function toDiscoverResult(initialized: string): string {
  const capabilities = withoutTasks(memberText(initialized, 'capabilities') ?? '{}')
  const own = `{"supportedVersions":["${MODERN_VERSION}"],"capabilities":${capabilities}}`
  const rest = omitRaw(initialized, name => MOVED.has(name))
  return toModernResult(mergeRaw(rest, own), {
    rule: { cacheable: true },
    infoText: memberText(initialized, 'serverInfo'),
  })
}
