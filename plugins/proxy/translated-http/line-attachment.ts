import { once } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import type { Attachment, Exit } from '../../../src/contracts/runtime.ts'
import { type Message, onOneLine, readMessage } from '../../../src/net/rpc-message.ts'

/** An HTTP server as the bridge sees one: a process that reads and writes lines. */
export interface LineAttachment {
  readonly attachment: Attachment
  /** A message of the server, raw. Resolves when the next one has room; after `end` nothing is sent. */
  emit(text: string): Promise<void>
  /** The connection is lost: what is in flight fails. */
  end(reason: string): void
}

/** The most bytes of messages that are kept until the server has responded. Beyond that, the bridge has to wait. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024

/** @param options.onMessage takes what the bridge sends, in order; resolves when the message is no longer kept */
export function createLineAttachment(options: {
  onMessage: (message: Message) => Promise<void> | undefined
  onDetach: () => void
  maxKeptBytes?: number
}): LineAttachment {
  const { onMessage, onDetach, maxKeptBytes = MAX_KEPT_BYTES } = options
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const exit = Promise.withResolvers<Exit>()
  let drained: Promise<unknown> | undefined
  let kept = 0
  let goOn = () => {}
  const stdin = new Writable({
    decodeStrings: true,
    write(chunk: Buffer, _encoding, done) {
      const message = readMessage(chunk.toString('latin1').trimEnd())
      const over = message && onMessage(message)
      kept += chunk.length
      if (kept <= maxKeptBytes) done()
      else goOn = done
      void Promise.resolve(over).finally(() => {
        kept -= chunk.length
        if (kept > maxKeptBytes) return
        const next = goOn
        goOn = () => {}
        next()
      })
    },
  })
  return {
    attachment: { stdin, stdout, stderr, exit: exit.promise, detach: onDetach },
    async emit(text) {
      // After the end nobody reads. A write would be an error of the stream, and reject.
      if (stdout.writableEnded || stdout.write(`${onOneLine(text)}\n`, 'latin1')) return
      drained ??= once(stdout, 'drain').finally(() => {
        drained = undefined
      })
      await drained
    },
    end(reason) {
      exit.resolve({ reason })
      stdout.end()
    },
  }
}
