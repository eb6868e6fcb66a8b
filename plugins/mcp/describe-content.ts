import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'

/** A tool's result for people: text as it is, anything else in brackets, structured content as JSON. */
export function describeContent({ content = [], structuredContent }: CallToolResult): string[] {
  const lines = content.map(describeBlock)
  return structuredContent === undefined ? lines : [...lines, JSON.stringify(structuredContent, null, 2)]
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
