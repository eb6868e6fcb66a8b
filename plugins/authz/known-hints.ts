import type { MiddlewareContext } from '../../src/contracts/pipeline.ts'
import { createSingleFlight } from '../../src/lib/single-flight.ts'
import type { ToolHints, Use } from './decider.ts'
import { hintsOf } from './hints-of.ts'

/** Tools whose annotations are remembered; the oldest are forgotten first. */
const MOST_TOOLS = 10_000

/** What lists have said of tools. Absent annotations of a list take the place of earlier ones. */
export interface KnownHints {
  learn(use: Use): void
  /**
   * Those of a tool that no list has named are looked for in a list that the proxy asks for: a policy that forbids by
   * them counts for the first call, too. Undefined where the proxy has no login for the server. Fails as `listTools`.
   */
  find(tool: string): Promise<ToolHints | undefined>
}

export function createKnownHints(listTools: MiddlewareContext['listTools']): KnownHints {
  const known = new Map<string, ToolHints>()
  const asking = createSingleFlight<boolean>()

  function note(tool: string, hints: ToolHints): void {
    known.delete(tool)
    known.set(tool, hints)
    const [oldest] = known.keys()
    if (known.size > MOST_TOOLS && oldest !== undefined) known.delete(oldest)
  }

  async function ask(): Promise<boolean> {
    const tools = await listTools({})
    for (const { name, annotations } of tools ?? []) note(name, hintsOf(annotations))
    return tools !== undefined
  }

  return {
    learn: ({ id, hints = {} }) => note(id, hints),
    async find(tool) {
      if (known.has(tool)) return known.get(tool)
      const isTold = await asking.run('tools', ask)
      if (isTold && !known.has(tool)) note(tool, {}) // so that it is not asked for again
      return known.get(tool)
    },
  }
}
