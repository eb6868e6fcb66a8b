import type { Routes } from '../../src/http/api.ts'
import { closed, list, object, optional, port, text } from '../../src/lib/schema.ts'
import { workloadName } from '../state/index.ts'
import type { Endpoint } from './endpoints.ts'
import { endpointMembers } from './section.ts'

const tag = 'endpoints'
const path = '/api/v1beta/endpoints'
const params = { name: workloadName }

const endpoint = object(
  {
    name: text,
    status: text,
    url: text,
    settings: object(endpointMembers, closed),
    servers: list(object({ name: text, status: text, reason: optional(text) }, closed)),
  },
  closed,
)

/** The operations on endpoints. Those on all workloads stop, start, rename and remove them. */
export const endpointRoutes: Routes = (api, app) => {
  const endpoints = () => app.service('endpoints')

  api.operation({
    id: 'listEndpoints',
    method: 'GET',
    path,
    tag,
    summary: 'Endpoints, and the servers behind them',
    response: [200, object({ endpoints: list(endpoint) }, closed)],
    handle: async () => ({ endpoints: (await (await endpoints()).list()).map(toResponse) }),
  })

  api.operation({
    id: 'createEndpoint',
    method: 'POST',
    path,
    tag,
    summary: 'Put the servers of a group, or a list of servers, behind one URL',
    body: object({ name: workloadName, proxy_port: optional(port), ...endpointMembers }, closed),
    response: [201, endpoint],
    failures: [400, 404, 409],
    slow: true,
    async handle({ body: { name, proxy_port, ...settings }, signal }) {
      return toResponse(await (await endpoints()).create(name, settings, { port: proxy_port, signal }))
    },
  })

  api.operation({
    id: 'getEndpoint',
    method: 'GET',
    path: `${path}/{name}`,
    params,
    tag,
    summary: 'An endpoint, and the servers behind it',
    response: [200, endpoint],
    failures: [400, 404],
    handle: async ({ params: { name } }) => toResponse(await (await endpoints()).get(name)),
  })

  api.operation({
    id: 'editEndpoint',
    method: 'POST',
    path: `${path}/{name}/edit`,
    params,
    tag,
    summary: 'Change settings of an endpoint; those that are not given stay',
    assertThere: async ({ name }) => (await endpoints()).get(name),
    body: object(endpointMembers, closed),
    response: [200, endpoint],
    failures: [400, 404],
    slow: true,
    async handle({ params: { name }, body }) {
      return toResponse(await (await endpoints()).edit(name, body))
    },
  })
}

const toResponse = ({ workload: { name, status, url }, settings, members }: Endpoint) => ({
  ...{ name, status, url, settings },
  servers: members.map(({ name, status, reason }) => ({
    ...{ name, status },
    ...(reason === undefined ? {} : { reason }),
  })),
})
