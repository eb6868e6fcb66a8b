import { isObject } from '../../src/lib/is-object.ts'
import type { Log } from '../../src/log.ts'
import { mirrorProblem } from '../../src/net/mirror-problem.ts'

/**
 * Leaves the tools with an invalid `x-mcp-header` out of a list, as clients over HTTP must (MCP 2026-07-28). The SDK does
 * so too, but writes their names to the terminal without escaping them.
 *
 * @param message changed in place, where it is a list of tools
 */
export function excludeTools(message: object, log: Log): void {
  const { result } = message as { result?: unknown }
  if (!isObject(result) || !Array.isArray(result.tools)) return
  result.tools = result.tools.filter(tool => {
    if (!isObject(tool)) return true
    const problem = mirrorProblem(tool.inputSchema)
    if (problem !== undefined)
      log.warn(`The tool "${tool.name}" is left out, because its x-mcp-header is not valid: ${problem}.`)
    return problem === undefined
  })
}
