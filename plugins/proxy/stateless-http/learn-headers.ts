import { parseRaw, toRaw } from '../../../src/lib/raw-json.ts'
import type { ModernHeaders } from '../../../src/net/modern-headers.ts'
import { type Request, readMessage } from '../../../src/net/rpc-message.ts'
import { listTools } from '../own/list-tools.ts'
import { META_2026 } from '../revisions/index.ts'
import type { ServerResponse } from '../translated-http/dispatch.ts'
import { linesIn } from '../translated-http/response-lines.ts'

/** Reads the server's list of tools, which says which arguments headers repeat. Fails where it cannot be read. */
export async function learnHeaders({
  headers,
  maxBytes,
  post,
}: {
  headers: ModernHeaders
  maxBytes: number
  post: (request: Request) => Promise<ServerResponse>
}): Promise<void> {
  await listTools(async (method, params) => {
    const paramsText = toRaw(JSON.stringify({ ...META_2026, ...params }))
    const request = readMessage(
      `{"jsonrpc":"2.0","id":"keelson-tools","method":"${method}","params":${paramsText}}`,
    ) as Request
    for await (const { text } of linesIn(await post(request), { maxBytes })) {
      const message = text === undefined ? undefined : readMessage(text)
      if (message?.kind !== 'response' || message.idText !== request.idText || !message.result) continue
      headers.learn(message.text)
      return parseRaw(message.text.slice(message.result.start, message.result.end))
    }
    throw new Error('its list of tools cannot be read')
  })
}
