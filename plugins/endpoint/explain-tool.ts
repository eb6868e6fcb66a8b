import { messageOf } from '../../src/errors.ts'
import type { Endpoint } from './endpoints.ts'
import { failures } from './failures.ts'
import { isUp } from './members/members.ts'
import { namesOf } from './names/naming.ts'

/** Where a tool of an endpoint comes from, or why it is not there. */
export interface ToolOrigin {
  /** As clients know it, or would. */
  readonly name: string
  readonly server: string
  /** As its server knows it; undefined where the server cannot be asked. */
  readonly tool: string | undefined
  /** Why clients do not see it; undefined where they do. */
  readonly problem: string | undefined
}

/**
 * Finds the tools that have a name, at their servers or at the endpoint, and servers that cannot be asked for it. Fails with
 * `endpoint_tool_unknown` where no server has it and all were asked.
 *
 * @param toolsOf asks a workload for the names of its tools
 */
export async function explainTool(
  { workload, settings, members }: Endpoint,
  wanted: string,
  toolsOf: (workload: string) => Promise<readonly string[]>,
): Promise<ToolOrigin[]> {
  const unknown: ToolOrigin[] = []
  const lists = await Promise.all(
    members.map(async ({ name: server, ...member }) => {
      const silent = (problem: string) => unknown.push({ name: wanted, server, tool: undefined, problem })
      if (!isUp(member)) silent(`the server is ${member.status}`)
      else {
        const names = await toolsOf(server).catch((error: unknown) => void silent(messageOf(error)))
        return (names ?? []).map(name => ({ server, name }))
      }
      return []
    }),
  )
  const naming = settings.naming ?? 'prefix'
  const offers = lists.flat()
  const named = namesOf(offers, naming)
  const nameOf = new Map([...named].map(([name, offer]) => [offer, name]))
  // A search shows clients what they may use of all that the servers have.
  const shown = settings.tool_mode === 'search' ? undefined : new Set(await toolsOf(workload.name))
  const found = offers.flatMap(({ server, name: tool }, index): ToolOrigin[] => {
    const offer = offers[index]
    const name = (offer && nameOf.get(offer)) ?? tool
    if (tool !== wanted && name !== wanted) return []
    const winner = named.get(name)
    const problem =
      winner && winner !== offer
        ? `the server "${winner.server}" has a tool of this name, and comes first`
        : (shown?.has(name) ?? true)
          ? undefined
          : 'the endpoint hides or renames it (--tools and other settings of tools)'
    return [{ name, server, tool, problem }]
  })
  if (found.length + unknown.length === 0) {
    throw failures.endpoint_tool_unknown({ endpoint: workload.name, tool: wanted })
  }
  return [...found, ...unknown]
}
