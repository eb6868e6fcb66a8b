import { parseRaw } from '../../../src/lib/raw-json.ts'
import { paramText, type Request, type Response, readMessage } from '../../../src/net/rpc-message.ts'
import type { ServerResponse } from '../translated-http/dispatch.ts'
import { linesIn } from '../translated-http/response-lines.ts'

/** The session of a client at a server of streamable HTTP, as the server knows it. */
export interface LegacySession {
  readonly id: string | undefined
  /** Of the requests in the session. */
  readonly headers: Readonly<Record<string, string>>
  /** Notes what opens a session, or sets something in it, so that a new one can be made the same. */
  note(request: Request): void
  /** Takes the head of the response to `initialize`, then the response. */
  opened(response: ServerResponse): void
  agreed(response: Response): void
  /** Opens another session in place of the one with this id, which the server has lost. */
  renew(lost: string): Promise<void>
}

const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}'

/** Requests whose effect a session keeps; the key tells which one of them replaces another. */
const keyOf = (request: Request): string | undefined =>
  /^(?:initialize|logging\/setLevel|resources\/subscribe)$/.test(request.method)
    ? `${request.method} ${paramText(request, 'uri') ?? ''}`
    : undefined

/**
 * @param options.post sends a message with these headers of the session
 * @param options.onRenewed called with the new session, which has no stream yet
 */
export function createLegacySession(options: {
  maxBytes: number
  post: (
    text: string,
    headers: Readonly<Record<string, string>>,
    options?: { isFirst?: boolean },
  ) => Promise<ServerResponse>
  onRenewed: () => void
}): LegacySession {
  const { maxBytes, post, onRenewed } = options
  const noted = new Map<string, string>()
  let id: string | undefined
  let version: string | undefined
  let renewing: Promise<void> | undefined

  const headersOf = () => ({
    ...(id === undefined ? {} : { 'mcp-session-id': id }),
    ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
  })

  async function open(): Promise<void> {
    id = undefined
    version = undefined
    for (const [key, text] of noted) {
      const isFirst = key.startsWith('initialize ')
      const response = await post(text, headersOf(), { isFirst })
      if (response.statusCode >= 300) throw new Error('it has lost the session and opens no new one')
      if (isFirst) session.opened(response)
      for await (const { text: answer } of linesIn(response, { maxBytes })) {
        const message = answer === undefined ? undefined : readMessage(answer)
        if (message?.kind === 'response') {
          if (isFirst) session.agreed(message)
          break
        }
      }
      if (isFirst) await (await post(INITIALIZED, headersOf())).body.dump()
    }
    onRenewed()
  }

  const session: LegacySession = {
    get id() {
      return id
    },
    get headers() {
      return headersOf()
    },
    note(request) {
      const key = keyOf(request)
      if (key !== undefined) noted.set(key, request.text)
      if (request.method === 'resources/unsubscribe') {
        noted.delete(`resources/subscribe ${paramText(request, 'uri') ?? ''}`)
      }
    },
    opened({ headers }) {
      const given = headers['mcp-session-id']
      id = typeof given === 'string' ? given : undefined
    },
    agreed({ text, index, result }) {
      const span = index.find(result, ['protocolVersion'])
      const given = span && parseRaw(text.slice(span.start, span.end))
      version = typeof given === 'string' ? given : undefined
    },
    async renew(lost) {
      if (id === lost) renewing ??= open()
      await renewing?.finally(() => {
        renewing = undefined
      })
    },
  }
  return session
}
