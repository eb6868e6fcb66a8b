import type { Exchange } from '../../../src/contracts/pipeline.ts'
import { readMessage } from '../../../src/net/rpc-message.ts'

/** The POSTs of a client whose responses are not finished. */
export interface OpenPosts {
  add(exchange: Exchange): void
  /** The one that made the request with this id, as the client wrote it, where its response has not begun. */
  find(idText: string): Exchange | undefined
}

export function createOpenPosts(): OpenPosts {
  const open = new Set<Exchange>()
  return {
    add(exchange) {
      if (exchange.response.closed) return
      open.add(exchange)
      exchange.response.once('close', () => open.delete(exchange))
    },
    find: idText =>
      open.values().find(({ response, buffered }) => {
        if (response.headersSent || response.destroyed || !buffered) return false
        const message = readMessage(buffered.toString('latin1'))
        return message?.kind === 'request' && message.idText === idText
      }),
  }
}
