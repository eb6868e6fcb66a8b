import { isObject } from '../../../src/lib/is-object.ts'

/** The result of a tool (`CallToolResult` of MCP). */
export interface ToolResult {
  readonly content?: readonly unknown[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
}

const MEMBERS = new Map([
  ['text', 'text'],
  ['image', 'data'],
  ['audio', 'data'],
])

/**
 * What templates see of a result: its structured content or, where there is none, its content blocks by type: `text`,
 * `text_1`, `image`, as ToolHive names them.
 */
export function outputOf({ structuredContent, content = [] }: ToolResult): Readonly<Record<string, unknown>> {
  if (isObject(structuredContent)) return structuredContent
  const output: Record<string, unknown> = {}
  const counts = new Map<string, number>()
  for (const block of content) {
    const type = isObject(block) ? String(block.type) : ''
    const member = MEMBERS.get(type)
    if (!isObject(block) || member === undefined) continue
    const count = counts.get(type) ?? 0
    counts.set(type, count + 1)
    output[type === 'text' && count === 0 ? type : `${type}_${count}`] = block[member]
  }
  return output
}

/** The texts of a result, for people. */
export const textOf = ({ content = [] }: ToolResult): string =>
  content.flatMap(block => (isObject(block) && typeof block.text === 'string' ? [block.text] : [])).join('\n')
