import { toRaw } from '../../../../src/lib/raw-json.ts'
import { type Request, readMessage } from '../../../../src/net/rpc-message.ts'
import type { Reply } from '../calls/call.ts'
import type { ClientMessages } from '../clients/client-messages.ts'
import type { Session } from '../clients/client-sessions.ts'

/** Sends a request in the name of a client, of which the client knows nothing. False when it had no result. */
export const tellServer = (
  messages: ClientMessages,
  session: Session,
  method: string,
  params: object,
): Promise<boolean> =>
  new Promise(resolve => {
    const text = toRaw(JSON.stringify({ jsonrpc: '2.0', id: 0, method, params }))
    const reply: Reply = {
      attended: () => true,
      related: () => false,
      keepAlive() {},
      respond(response) {
        const message = readMessage(response)
        resolve(message?.kind === 'response' && message.result !== undefined)
      },
      fail: () => resolve(false),
    }
    const { owner } = session
    if (messages.request(readMessage(text) as Request, { session, owner, reply }) === 'busy') resolve(false)
  })
