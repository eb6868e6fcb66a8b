import type { MiddlewareContext } from '../../src/contracts/pipeline.ts'
import { parseRaw } from '../../src/lib/raw-json.ts'
import { createSingleFlight } from '../../src/lib/single-flight.ts'
import type { ListItem } from '../../src/net/list-result.ts'
import { type MirroredArgument, memberOf, mirroredArguments } from '../../src/net/mirrored-arguments.ts'

/** What a list of the server has said of a tool. */
export interface ToolFacts {
  /** Whether its annotations say that it only reads: a hint of the server, no more. */
  readonly isReadOnly: boolean
  readonly mirrored: readonly MirroredArgument[]
}

export interface KnownTools {
  /** Takes a tool of a list. */
  learn(tool: ListItem): ToolFacts
  /** A tool that no list has named is looked for in a list that the proxy asks for, once. */
  find(real: string): Promise<ToolFacts | undefined>
}

/** Most schemas mirror nothing, and reading one takes far longer than the rest of a tool. Names may have escapes. */
const MAY_MIRROR = /x-mcp-header|\\u/

/** Tools that are known; the oldest are forgotten first. */
const MOST_TOOLS = 10_000

export function createKnownTools(listTools: MiddlewareContext['listTools']): KnownTools {
  const known = new Map<string, ToolFacts>()
  const asking = createSingleFlight<void>()
  let hasAsked = false

  function note(name: string, said: { annotations: unknown; inputSchema: unknown }): ToolFacts {
    const facts = {
      isReadOnly: memberOf(said.annotations, 'readOnlyHint') === true,
      mirrored: mirroredArguments(said.inputSchema),
    }
    known.delete(name)
    known.set(name, facts)
    const [oldest] = known.keys()
    if (known.size > MOST_TOOLS && oldest !== undefined) known.delete(oldest)
    return facts
  }

  /** A server that cannot be asked now may be asked by the next call. */
  async function ask(): Promise<void> {
    const tools = await listTools({}).catch(() => undefined)
    for (const { name, annotations, inputSchema } of tools ?? []) note(name, { annotations, inputSchema })
    hasAsked = tools !== undefined
  }

  return {
    learn({ name, member }) {
      const annotations = member('annotations')
      const inputSchema = member('inputSchema')
      return note(name, {
        annotations: annotations && parseRaw(annotations),
        inputSchema: inputSchema && MAY_MIRROR.test(inputSchema) ? parseRaw(inputSchema) : undefined,
      })
    },
    async find(real) {
      if (!known.has(real) && !hasAsked) await asking.run('tools', ask)
      return known.get(real)
    },
  }
}
