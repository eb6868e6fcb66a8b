import { isDeepStrictEqual } from 'node:util'
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'

/**
 * A tool's result for people: text as it is, anything else in brackets, structured content as JSON. Text that is the
 * structured content once more, for older clients (MCP 2025-11-25, tools), is left out.
 */
export function describeContent({ content = [], structuredContent }: CallToolResult): string[] {
  if (structuredContent === undefined) return content.map(describeBlock)
  const others = content.filter(block => !(block.type === 'text' && isSame(block.text, structuredContent)))
  return [...others.map(describeBlock), JSON.stringify(structuredContent, null, 2)]
}

function isSame(text: string, structured: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(text), structured)
  } catch {
    return false
  }
}

function describeBlock(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type}: ${block.mimeType}, ${Buffer.byteLength(block.data, 'base64')} bytes]`
    case 'resource_link':
      return `[resource: ${block.name}, ${block.uri}]`
    case 'resource':
      return 'text' in block.resource ? block.resource.text : `[resource: ${block.resource.uri}]`
    default:
      return `[${(block as { type: string }).type}]`
  }
}
