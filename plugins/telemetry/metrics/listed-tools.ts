import type { MiddlewareContext } from '../../../src/contracts/pipeline.ts'
import { createSingleFlight } from '../../../src/lib/single-flight.ts'

/** How long a list is believed before another unknown name has the server asked again. */
const ASK_AGAIN_MS = 60_000
const MOST_TOOLS = 10_000

/**
 * Returns a function that tells whether the server lists a tool of that name. The server is asked at most once a minute,
 * and only for names that its last list did not have.
 */
export function createListedTools(
  listTools: MiddlewareContext['listTools'],
  now: () => number = Date.now,
): (name: string) => boolean | Promise<boolean> {
  const asking = createSingleFlight<void>()
  let names: ReadonlySet<string> = new Set()
  let askedAt = Number.NEGATIVE_INFINITY

  async function ask(): Promise<void> {
    const tools = await listTools({}).catch(() => undefined)
    if (tools) names = new Set(tools.slice(0, MOST_TOOLS).map(({ name }) => name))
    askedAt = now()
  }

  return name => {
    if (names.has(name) || now() - askedAt < ASK_AGAIN_MS) return names.has(name)
    return asking.run('tools', ask).then(() => names.has(name))
  }
}
