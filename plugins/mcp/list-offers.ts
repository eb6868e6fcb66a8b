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
 * Reads whole lists, page by page. A category that the server does not have is empty.
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
  const problems: unknown[] = []
  const lists = await Promise.all(
    categories.map(async category => {
      try {
        return [category, await readers[category]()] as const
      } catch (error) {
        problems.push(error)
        if (categories.length > 1) onProblem(category, error)
        return [category, []] as const
      }
    }),
  )
  if (problems.length === categories.length) fail(problems[0], `to list its ${categories.join(', ')}`)
  return Object.fromEntries(lists)
}
