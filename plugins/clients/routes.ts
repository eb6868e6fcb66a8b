import { groupName } from '../../src/contracts/group-name.ts'
import type { Routes } from '../../src/http/api.ts'
import { bool, closed, described, filled, list, object, optional, text, texts } from '../../src/lib/schema.ts'

const tag = 'clients'
const path = '/api/v1beta/clients'

const registration = object({ name: text, groups: texts }, closed)
const status = object(
  {
    client_type: text,
    title: text,
    file: described(text, 'The path of its settings'),
    installed: bool,
    registered: bool,
    supports_skills: bool,
    supports_plugins: bool,
    problem: optional(text),
  },
  closed,
)
const groups = optional(list(groupName))
const single = object({ name: filled, groups })
const several = object({ names: { ...list(filled), minItems: 1 }, groups })

const DEFAULT_GROUPS = ['default']

/** The operations on client applications. */
export const clientRoutes: Routes = (api, app) => {
  const clients = () => app.service('clients')

  /** The registration holds even where an entry could not be written: the next change writes it. */
  async function change(
    verb: 'register' | 'remove',
    names: readonly string[],
    groups: readonly string[] = [],
  ) {
    for (const problem of await (await clients())[verb](names, groups)) app.log.warn(problem.message)
  }

  api.operation({
    id: 'listClients',
    method: 'GET',
    path,
    tag,
    summary: 'Registered clients by name',
    response: [200, list(registration)],
    handle: async () => (await clients()).listRegistered(),
  })

  api.operation({
    id: 'registerClient',
    method: 'POST',
    path,
    tag,
    summary: 'Register a client in groups, `default` unless they are named',
    body: single,
    response: [200, registration],
    failures: [404, 409, 503],
    async handle({ body: { name, groups = [] } }) {
      await change('register', [name], groups)
      return { name, groups: groups.length ? groups : DEFAULT_GROUPS }
    },
  })

  api.operation({
    id: 'registerClients',
    method: 'POST',
    path: `${path}/register`,
    tag,
    summary: 'Register several clients',
    body: several,
    response: [200, list(registration)],
    failures: [404, 409, 503],
    async handle({ body: { names, groups = [] } }) {
      await change('register', [...new Set(names)], groups)
      return names.map(name => ({ name, groups: groups.length ? groups : DEFAULT_GROUPS }))
    },
  })

  api.operation({
    id: 'unregisterClients',
    method: 'POST',
    path: `${path}/unregister`,
    tag,
    summary: 'Take several clients out of groups, of all unless they are named',
    body: several,
    response: [204, 'empty'],
    failures: [404, 409, 503],
    async handle({ body: { names, groups } }) {
      await change('remove', [...new Set(names)], groups)
    },
  })

  api.operation({
    id: 'unregisterClient',
    method: 'DELETE',
    path: `${path}/{name}`,
    tag,
    summary: 'Take a client out of all groups',
    response: [204, 'empty'],
    failures: [400, 409, 503],
    handle: ({ params: { name } }) => change('remove', [name]),
  })

  api.operation({
    id: 'unregisterClientFromGroup',
    method: 'DELETE',
    path: `${path}/{name}/groups/{group}`,
    params: { group: groupName },
    tag,
    summary: 'Take a client out of a group',
    response: [204, 'empty'],
    failures: [400, 404, 409, 503],
    handle: ({ params: { name, group } }) => change('remove', [name], [group]),
  })

  api.operation({
    id: 'discoverClients',
    method: 'GET',
    path: '/api/v1beta/discovery/clients',
    tag,
    summary: 'All clients there are: which are installed, which are registered',
    response: [200, object({ clients: list(status) }, closed)],
    handle: async () => ({ clients: await (await clients()).status() }),
  })
}
