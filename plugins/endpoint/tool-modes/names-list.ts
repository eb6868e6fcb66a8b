import { omitRaw, toRaw } from '../../../src/lib/raw-json.ts'
import { lineOf } from './describe.ts'
import type { ListedTools, Tool } from './listed-tools.ts'
import { describeTool } from './tool-definitions.ts'

/** What `describe_tool` returns and models need not read for each tool. */
const OMITTED = new Set(['description', 'inputSchema', 'outputSchema', 'icons'])

/** The tools, each with one line and a schema that takes any arguments; raw texts. */
export function namesList({ tools }: ListedTools): string[] {
  const own = toRaw(
    JSON.stringify({
      ...describeTool,
      description: `${describeTool.description} The other tools show one line each: describe one before you call it.`,
    }),
  )
  return [...[...tools.values()].filter(({ name }) => name !== describeTool.name).map(toLine), own]
}

function toLine(tool: Tool): string {
  const kept = omitRaw(tool.item, name => OMITTED.has(name))
  const shown = JSON.stringify({ description: lineOf(tool), inputSchema: { type: 'object' } })
  return `${kept.slice(0, -1)},${toRaw(shown).slice(1)}`
}
