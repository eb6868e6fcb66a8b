import type { IncomingHttpHeaders } from 'node:http'
import { PassThrough } from 'node:stream'
import { readMessage } from '../../../src/net/rpc-message.ts'
import type { Transform } from '../backends/response-writer.ts'
import { linesIn } from './response-lines.ts'

const MAX_BYTES = 1024 * 1024
const NOTHING = Buffer.alloc(0)

/**
 * Reads the response to `initialize` while its bytes pass.
 *
 * @param change what changes these bytes; undefined to pass them as they are
 * @param onServed called when the server has responded with a result
 */
export function watchOpening(
  headers: IncomingHttpHeaders,
  change: Transform | undefined,
  onServed: () => void,
): Transform | undefined {
  if (headers['mcp-session-id'] !== undefined) {
    onServed()
    return change
  }
  const copy = new PassThrough()
  void isResult(headers, copy).then(is => is && onServed())
  return chunk => {
    if (chunk && !copy.destroyed) copy.write(chunk)
    else copy.end()
    return change ? change(chunk) : (chunk ?? NOTHING)
  }
}

/** Whether the first response in the body is a result. False if there is none, or if it is too long. */
async function isResult(headers: IncomingHttpHeaders, body: AsyncIterable<Buffer>): Promise<boolean> {
  try {
    for await (const { text } of linesIn({ headers, body }, { maxBytes: MAX_BYTES })) {
      const message = text === undefined ? undefined : readMessage(text)
      if (message?.kind === 'response') return message.result !== undefined
    }
  } catch {
    // The client gets the response all the same.
  }
  return false
}
