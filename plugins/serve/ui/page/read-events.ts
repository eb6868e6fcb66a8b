import type { ServerEvent } from '../page-types.d.ts'

/**
 * Reads server-sent events (WHATWG HTML, section 9.2) from a response. The browser's own EventSource
 * cannot carry a token.
 */
export async function* readEvents(response: Response): AsyncGenerator<ServerEvent> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done) return
    text += value
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = parse(block)
      if (event) yield event
    }
  }
}

function parse(block: string): ServerEvent | undefined {
  let name = 'message'
  let data = ''
  for (const line of block.split('\n')) {
    if (line.startsWith('event: ')) name = line.slice(7)
    if (line.startsWith('data: ')) data += line.slice(6)
  }
  return data ? { name, data: JSON.parse(data) } : undefined
}
