import type { Message } from '../../../src/net/rpc-message.ts'
import type { LinkEnd, ServerLink } from '../bridge/server/server-link.ts'

/** An HTTP server as the bridge sees one. */
export interface MessageLink {
  readonly link: ServerLink
  /**
   * Delivers a message of the server, raw and on one line. Resolves when the next one has room; after the end nothing is
   * delivered.
   *
   * @param message where the text was read before
   */
  emit(text: string, message?: Message): Promise<void>
  /** The connection is lost: what is in flight fails. */
  end(reason: string): void
}

/** @param options.onMessage takes what the bridge sends, in order; resolves when the message is no longer kept */
export function createMessageLink({
  onMessage,
  onClose,
}: {
  onMessage: (message: Message) => Promise<void> | undefined
  onClose: () => void
}): MessageLink {
  let bridge: LinkEnd | undefined
  let release = () => {}
  let paused: PromiseWithResolvers<void> | undefined
  /** Bytes of the messages that the server has not responded to. */
  let kept = 0

  const output = {
    pause() {
      paused ??= Promise.withResolvers()
    },
    resume() {
      paused?.resolve()
      paused = undefined
    },
  }
  return {
    link: {
      get queued() {
        return kept
      },
      open(to) {
        bridge = to
        release = to.flow.control(output)
      },
      send({ length }, read) {
        const message = read()
        const over = message && onMessage(message)
        if (!over) return
        kept += length
        void over.finally(() => {
          kept -= length
        })
      },
      close() {
        bridge = undefined
        release()
        onClose()
      },
    },
    async emit(text, message) {
      while (paused) await paused.promise
      bridge?.onMessage(text, message)
    },
    end: reason => bridge?.onEnd(reason),
  }
}
