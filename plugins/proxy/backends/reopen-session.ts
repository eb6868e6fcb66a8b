import type { Dispatcher } from 'undici'
import type { Session } from '../http-sessions.ts'
import { revision20251125 } from '../revisions/index.ts'
import { type Sign, signed } from './signed.ts'

const REPLACED = new Set([
  'mcp-session-id',
  'mcp-protocol-version',
  'last-event-id',
  'accept',
  'content-type',
  'content-length',
])
const INITIALIZED = Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}')

/**
 * Opens a session again with the `initialize` it began with, after the server has lost it.
 *
 * The client keeps its id; from now on the server's new one stands behind it. Resolves false when the server
 * does not take it, so that the client hears of the loss and can begin anew.
 */
export async function reopen(
  agent: Dispatcher,
  session: Session,
  options: {
    origin: string
    /** The headers of the request that found the session lost: credentials are taken from them. */
    headers: readonly string[]
    sign: Sign | undefined
    timeoutMs: number
  },
): Promise<boolean> {
  const { opening } = session
  if (!opening) return false
  const common: string[] = [
    'accept',
    'application/json, text/event-stream',
    'content-type',
    'application/json',
  ]
  for (let i = 0; i < options.headers.length; i += 2) {
    const name = options.headers[i] as string
    if (!REPLACED.has(name.toLowerCase())) common.push(name, options.headers[i + 1] as string)
  }
  const post = async (body: Buffer, extra: string[]) => {
    const { origin, sign, timeoutMs } = options
    const plain = { origin, path: opening.path, method: 'POST', headers: [...common, ...extra], body }
    const { headers } = sign ? await signed(plain, sign) : plain
    const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs }
    return agent.request({ ...plain, ...timeouts, method: 'POST', headers })
  }
  try {
    const answer = await post(opening.body, [])
    // The response has to be read to its end: to break it off may cancel the opening.
    await answer.body.dump({ limit: 1024 * 1024 })
    const id = answer.headers['mcp-session-id']
    if (answer.statusCode !== 200 || typeof id !== 'string') return false
    const done = await post(INITIALIZED, [
      'mcp-session-id',
      id,
      'mcp-protocol-version',
      revisionIn(opening.body),
    ])
    await done.body.dump()
    session.backendId = id
    return done.statusCode < 300
  } catch {
    return false
  }
}

function revisionIn(body: Buffer): string {
  const version = /"protocolVersion"\s*:\s*"([^"]{1,32})"/.exec(body.toString('latin1'))?.[1]
  return version && /^[\w.-]+$/.test(version) ? version : revision20251125.version
}
