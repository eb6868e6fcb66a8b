import type { Api } from './api.ts'

export const GROUPS = '/api/v1beta/groups'

/** Names of all groups, the empty ones among them. */
export async function listGroups(api: Api): Promise<string[]> {
  const { groups } = await api.get(GROUPS)
  return (groups as { name: string }[]).map(({ name }) => name)
}
