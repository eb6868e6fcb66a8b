import { groupName } from '../../src/contracts/group-name.ts'
import type { Routes } from '../../src/http/api.ts'
import { closed, list, object, text } from '../../src/lib/schema.ts'
import { type Group, groupMembers } from './group.ts'

const tag = 'groups'
const path = '/api/v1beta/groups'

const group = object(groupMembers, closed)
const nameOnly = object({ name: groupName })

/** The operations on groups. */
export const groupRoutes: Routes = (api, app) => {
  const groups = () => app.service('groups')

  api.operation({
    id: 'listGroups',
    method: 'GET',
    path,
    tag,
    summary: 'Groups by name',
    response: [200, object({ groups: list(group) }, closed)],
    handle: async () => ({ groups: (await (await groups()).list()).map(toAnswer) }),
  })

  api.operation({
    id: 'createGroup',
    method: 'POST',
    path,
    tag,
    summary: 'Make an empty group',
    body: nameOnly,
    response: [201, object({ name: text }, closed)],
    failures: [409],
    handle: async ({ body }) => ({ name: (await (await groups()).create(body.name)).name }),
  })

  api.operation({
    id: 'getGroup',
    method: 'GET',
    path: `${path}/{name}`,
    params: { name: groupName },
    tag,
    summary: 'A group',
    response: [200, group],
    failures: [400, 404],
    handle: async ({ params: { name } }) => toAnswer(await (await groups()).get(name)),
  })

  api.operation({
    id: 'deleteGroup',
    method: 'DELETE',
    path: `${path}/{name}`,
    params: { name: groupName },
    tag,
    summary: 'Remove a group; its workloads move to `default`, or are removed too',
    query: { 'with-workloads': { type: 'boolean', description: 'Delete its workloads too' } },
    response: [204, 'empty'],
    failures: [400, 404],
    slow: true,
    async handle({ params: { name }, query }) {
      const workloads = query['with-workloads'] === 'true' ? 'remove' : 'move'
      await (await groups()).remove(name, { workloads })
    },
  })
}

/** Leaves out unknown members of the file, which stay in the file. */
const toAnswer = ({ name, registered_clients, skills = [], plugins = [] }: Group) => ({
  name,
  registered_clients,
  ...(skills.length ? { skills } : {}),
  ...(plugins.length ? { plugins } : {}),
})
