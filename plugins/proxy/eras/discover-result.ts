import { TooManyNames } from '../../../src/lib/parse-json.ts'
import { memberText, mergeRaw, omitRaw, rawObject } from '../../../src/lib/raw-json.ts'
import { SERVER_ERROR } from '../../../src/net/rpc-error-codes.ts'
import { errorText, resultText } from '../../../src/net/rpc-message.ts'
import { META_2026 } from '../revisions/index.ts'
import { toModernResult } from './modern-response.ts'
import { withoutTasks } from './without-tasks.ts'

/** The version that clients of the era speak with the proxy. */
export const MODERN_VERSION = META_2026._meta['io.modelcontextprotocol/protocolVersion']

/** Members of the result of `initialize` that stand elsewhere in that of `server/discover`, or are gone. */
const MOVED = new Set(['protocolVersion', 'capabilities', 'serverInfo'])

/** The response to `server/discover` (MCP 2026-07-28), made of the result of `initialize`. */
export function toDiscoverResponse(idText: string, initialized: string): string {
  try {
    return resultText(idText, toDiscoverResult(initialized))
  } catch (error) {
    if (!(error instanceof TooManyNames)) throw error
    return errorText(idText, SERVER_ERROR, `What the server says of itself was withheld: ${error.message}`)
  }
}

function toDiscoverResult(initialized: string): string {
  const capabilities = withoutTasks(memberText(initialized, 'capabilities') ?? '{}')
  const own = `{"supportedVersions":["${MODERN_VERSION}"],"capabilities":${capabilities}}`
  const rest = omitRaw(initialized, name => MOVED.has(name))
  return toModernResult(rawObject(mergeRaw(rest, own)), {
    rule: { cacheable: true },
    infoText: memberText(initialized, 'serverInfo'),
  })
}
