import type { Prompt, Resource, Tool } from '@modelcontextprotocol/client'
import type { McpSession } from './connect.ts'

export const CATEGORIES = ['tools', 'resources', 'prompts'] as const
export type Category = (typeof CATEGORIES)[number]

/** What a server offers, by category. */
export interface Offers {
  tools?: Tool[]
  resources?: Resource[]
  prompts?: Prompt[]
}

/**
 * Reads whole lists, page by page. A category that the server's capabilities do not name is empty, and not asked for.
 *
 * With several categories one that fails is empty too and told to `onProblem`; a single one fails.
 */
export async function listOffers(
  { client, options, fail }: McpSession,
  categories: readonly Category[],
  onProblem: (category: Category, error: unknown) => void,
): Promise<Offers> {
  const readers = {
    tools: async () => (await client.listTools(undefined, options)).tools,
    resources: async () => (await client.listResources(undefined, options)).resources,
    prompts: async () => (await client.listPrompts(undefined, options)).prompts,
  }
  const capabilities = client.getServerCapabilities()
  const problems: unknown[] = []
  const lists = await Promise.all(
    categories.map(async category => {
      if (!capabilities?.[category]) return [category, []] as const
      try {
        return [category, await readers[category]()] as const
      } catch (error) {
        problems.push(error)
        if (categories.length > 1) onProblem(category, error)
        return [category, []] as const
      }
    }),
  )
  if (problems.length > 0 && problems.length === categories.length)
    fail(problems[0], `to list its ${categories.join(', ')}`)
  return Object.fromEntries(lists)
}
