/** The reason for a failure in a few words that are the same each time: without addresses, ids and times. */
export function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: unknown }
  const text = String(message ?? error)
  const status = /Non-200 status code \((\d+)\)/.exec(text)?.[1]
  if (status) return `HTTP ${status}`
  const inner = /"error":\s*\{.*"code":\s*(-?\d+)/.exec(text)?.[1]
  const said = /"message":\s*"([^"]*)"/.exec(text)?.[1]
  const known = inner ?? (typeof code === 'number' ? String(code) : undefined)
  const words = (said ?? text)
    .replace(/^(MCP error -?\d+: |Streamable HTTP error: )+/, '')
    .replace(/the server did not offer pinned protocol.*/, 'the server does not offer it')
    .replace(/https?:\/\/\S+/g, 'URL')
    .replace(/"[\w-]*matrix-[\w-]*"/g, 'of the server')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replace(/: \d{4}-\d\d-\d\d$/, '')
    .replace(/\s+/g, ' ')
    .trim()
  const short = words.length > 90 ? `${words.slice(0, 87)}…` : words
  return known === undefined ? short : `${known} ${short}`
}
