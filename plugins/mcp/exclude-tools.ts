import { isObject } from '../../src/lib/is-object.ts'
import type { Log } from '../../src/log.ts'
import { mirrorProblem } from '../../src/net/mirror-problem.ts'

/**
 * Leaves out of a list the tools whose `x-mcp-header` is not valid, as clients over HTTP must (MCP 2026-07-28). The SDK
 * would do so, but write the names to the terminal as they are.
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
