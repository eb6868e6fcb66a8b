import { messageOf } from '../../src/errors.ts'
import type { Endpoint } from './endpoints.ts'
import { isUp, type Member } from './members/members.ts'
import { prefixedName } from './names/naming.ts'

/** A server behind an endpoint, and what clients see of it. */
export interface ServerState extends Pick<Member, 'name' | 'status' | 'reason'> {
  /** How many tools it lists; undefined where it cannot be asked. */
  readonly tools: number | undefined
  /** Why it could not be asked, though it runs. */
  readonly problem: string | undefined
  /** Names of its tools that an earlier server has, too. With the naming `plain`, clients do not see these. */
  readonly clashes: readonly string[]
}

/** @param toolsOf asks a workload for the names of its tools */
export async function readServerStates(
  { settings: { naming = 'prefix' }, members }: Pick<Endpoint, 'settings' | 'members'>,
  toolsOf: (workload: string) => Promise<readonly string[]>,
): Promise<ServerState[]> {
  const asked = await Promise.all(
    members.map(async member => {
      if (!isUp(member)) return { member }
      try {
        return { member, names: await toolsOf(member.name) }
      } catch (error) {
        return { member, problem: messageOf(error) }
      }
    }),
  )
  const taken = new Set<string>()
  return asked.map(({ member: { name: server, status, reason }, names, problem }) => {
    const clashes: string[] = []
    for (const tool of names ?? []) {
      const name = naming === 'prefix' ? prefixedName(server, tool) : tool
      if (taken.has(name)) clashes.push(tool)
      taken.add(name)
    }
    return { name: server, status, reason, tools: names?.length, problem, clashes }
  })
}
