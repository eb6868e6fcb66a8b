import type { App } from '../../../src/app.ts'
import { failures as core } from '../../../src/errors.ts'
import type { Api } from '../../../src/http/api.ts'
import { pageOf } from '../../../src/http/paging.ts'
import { serverEntry, serverPage, skillEntry, skillPage } from './response-schemas.ts'
import { toEntry } from './to-answers.ts'
import { unavailable } from './unavailable.ts'

const tag = 'registry'
const path = '/registry/{registryName}/v0.1'
const style = 'json'
const UNAVAILABLE = [502, 503]

const paging = {
  q: { type: 'string', description: 'Only what has this in its name or description' },
  page: { type: 'integer', description: 'From 1' },
  limit: { type: 'integer', description: 'Entries on a page: 50, at most 200' },
} as const

/** The registry with the API of MCP registries; the name in the path is ignored. */
export function v01Routes(api: Api, app: App): void {
  const registry = () => app.service('registry')

  api.operation({
    id: 'listRegistryEntries',
    method: 'GET',
    path: `${path}/servers`,
    tag,
    summary: 'Servers by name, in the format of the MCP registry',
    query: paging,
    response: [200, serverPage],
    failures: UNAVAILABLE,
    style,
    async handle({ query, signal }) {
      const all = await (await registry()).servers({ signal }).catch(unavailable)
      const { items, metadata } = pageOf(all.filter(has(query.q, ['name', 'description'])), query)
      return { servers: items.map(toEntry), metadata }
    },
  })

  api.operation({
    id: 'getRegistryEntry',
    method: 'GET',
    path: `${path}/servers/{serverName}/versions/latest`,
    tag,
    summary: 'A server by its full name, or by the part after the namespace',
    response: [200, serverEntry],
    failures: [400, 404, ...UNAVAILABLE],
    style,
    async handle({ params: { serverName }, signal }) {
      const name = decodeAgain(serverName)
      return toEntry(await (await registry()).get(name, { signal }).catch(unavailable))
    },
  })

  api.operation({
    id: 'listRegistrySkills',
    method: 'GET',
    path: `${path}/x/dev.toolhive/skills`,
    tag,
    summary: 'Skills by namespace and name',
    query: paging,
    response: [200, skillPage],
    failures: UNAVAILABLE,
    style,
    async handle({ query, signal }) {
      const all = await (await registry()).skills({ signal }).catch(unavailable)
      const { items, metadata } = pageOf(
        all.filter(has(query.q, ['namespace', 'name', 'description'])),
        query,
      )
      return { skills: items, metadata }
    },
  })

  api.operation({
    id: 'getRegistrySkill',
    method: 'GET',
    path: `${path}/x/dev.toolhive/skills/{namespace}/{skillName}`,
    tag,
    summary: 'A skill',
    response: [200, skillEntry],
    failures: [404, ...UNAVAILABLE],
    style,
    handle: async ({ params: { namespace, skillName } }) =>
      (await registry()).getSkill(namespace, skillName).catch(unavailable),
  })
}

/** Some clients encode the name twice. Fails for what cannot be decoded. */
export function decodeAgain(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    throw core.usage({ text: 'The name of the server is not encoded correctly.' })
  }
}

const has =
  <K extends string>(wanted: string | undefined, members: readonly K[]) =>
  (entry: Readonly<Record<K, string>>): boolean =>
    !wanted || members.some(member => (entry[member] ?? '').toLowerCase().includes(wanted.toLowerCase()))
