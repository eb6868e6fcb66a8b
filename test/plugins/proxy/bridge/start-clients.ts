import { createPuppet } from './puppet-server.ts'
import { type EventReader, open, stream } from './raw-client.ts'
import { startBridge } from './start-bridge.ts'

/** A bridge before a puppet server, and clients that join it. */
export async function start(options: Parameters<typeof startBridge>[0] = {}) {
  const server = createPuppet()
  const started = await startBridge({ attachment: server.attachment, ...options })
  /** A client with a standalone stream. */
  const join = async (capabilities: Record<string, unknown> = {}) => {
    const session = await open(started.url, capabilities)
    return { ...session, reader: await stream(started.url, { headers: session.headers }) }
  }
  /** Something every client gets, so that what did not come before it never will. */
  const mark = async (...readers: EventReader[]) => {
    server.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { mark: true } })
    return Promise.all(
      readers.map(async reader => {
        const before: string[] = []
        for (;;) {
          const event = await reader.next()
          if (!event || event.json.params?.mark) return before
          before.push(event.data)
        }
      }),
    )
  }
  return { server, ...started, join, mark }
}

export const log = (level: string, data: string) => ({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level, data },
})
