import type { Tool } from '@modelcontextprotocol/client'
import { isObject } from '../../src/lib/is-object.ts'

/** Text of a server that may have any line breaks and indentation, on one line. */
export const onOneLine = (text = ''): string => text.replaceAll(/\s+/g, ' ').trim()

/** One argument of a tool, as its input schema tells. */
export interface ToolArgument {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly description: string
}

export function argumentsOf({ inputSchema }: Pick<Tool, 'inputSchema'>): ToolArgument[] {
  const { properties = {}, required = [] } = inputSchema
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    type: typeOf(schema),
    required: required.includes(name),
    description:
      isObject(schema) && typeof schema.description === 'string' ? onOneLine(schema.description) : '',
  }))
}

/** `string`, `string|null`, `"a"|"b"` or `any`. */
function typeOf(schema: unknown): string {
  if (!isObject(schema)) return 'any'
  if (Array.isArray(schema.enum)) return schema.enum.map(value => JSON.stringify(value)).join('|')
  if (Array.isArray(schema.type)) return schema.type.join('|')
  return typeof schema.type === 'string' ? schema.type : 'any'
}

/** What the server says of the tool beyond its arguments; hints of a server are no promise. */
export function hintsOf({ annotations }: Tool): string[] {
  if (!annotations) return []
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations
  return [
    ...(readOnlyHint ? ['changes nothing'] : []),
    ...(destructiveHint ? ['may destroy something'] : []),
    ...(idempotentHint ? ['repeating the same call has no further effect'] : []),
    ...(openWorldHint ? ['reaches beyond the server'] : []),
  ]
}
