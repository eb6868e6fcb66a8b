import { groupName } from '../../src/contracts/group-name.ts'
import { workloadMembers } from '../../src/contracts/workload.ts'
import type { Routes } from '../../src/http/api.ts'
import { sectionRequests } from '../../src/http/section-request.ts'
import { closed, described, list, object, pick, text } from '../../src/lib/schema.ts'
import { orEmpty } from '../../src/lib/text-schema.ts'
import { workloadName } from '../state/index.ts'
import { isolationOf } from './describe-isolation.ts'
import { actionRoutes } from './http/action-routes.ts'
import { createRoutes } from './http/create-routes.ts'
import { denialRoutes } from './http/denial-routes.ts'
import { eventRoute } from './http/event-route.ts'
import { logRoutes } from './http/log-routes.ts'
import { logStreamRoutes } from './http/log-stream-routes.ts'
import { composeSchemas, runConfig, workloadItem } from './http/schemas.ts'
import { createStreamSlots } from './http/stream-slots.ts'
import { toDetails, toExport, toItem } from './http/to-details.ts'

const tag = 'workloads'
const path = '/api/v1beta/workloads'

const MOST_STREAMS = 100

/** The operations on workloads. */
export const workloadRoutes: Routes = async (api, app) => {
  const requests = await sectionRequests(app)
  const schemas = composeSchemas(requests)
  const workloads = () => app.service('workloads')

  api.operation({
    id: 'listWorkloads',
    method: 'GET',
    path,
    tag,
    summary: 'Workloads by name; without `all` those that serve clients now',
    query: {
      all: { type: 'boolean', description: 'Also those that do not run' },
      group: described(orEmpty(groupName), 'Only those of this group'),
    },
    response: [200, object({ workloads: list(workloadItem) }, closed)],
    failures: [400, 404, 503],
    async handle({ query: { all, group } }) {
      if (group) await (await app.service('groups')).assertExists(group)
      const found = await (await workloads()).list({ all: all === 'true', ...(group ? { group } : {}) })
      return { workloads: found.map(toItem) }
    },
  })

  api.operation({
    id: 'getWorkload',
    method: 'GET',
    path: `${path}/{name}`,
    params: { name: workloadName },
    tag,
    summary: 'A workload, in the shape that it is created in',
    response: [200, schemas.workloadDetails],
    failures: [400, 404],
    async handle({ params: { name } }) {
      const config = await (await workloads()).config(name)
      return toDetails(config, requests, { isolation: await isolationOf(config, app) })
    },
  })

  api.operation({
    id: 'exportWorkload',
    method: 'GET',
    path: `${path}/{name}/export`,
    params: { name: workloadName },
    tag,
    summary: 'The run config of a workload',
    response: [200, runConfig],
    failures: [400, 404],
    async handle({ params: { name } }) {
      return toExport(await (await workloads()).config(name))
    },
  })

  api.operation({
    id: 'getWorkloadStatus',
    method: 'GET',
    path: `${path}/{name}/status`,
    params: { name: workloadName },
    tag,
    summary: 'The status of a workload, and why it is so where that is known',
    response: [
      200,
      object(
        {
          ...pick(workloadMembers, 'status_context', 'middlewares', 'protocol', 'client_processes'),
          status: text,
        },
        closed,
      ),
    ],
    failures: [400, 404, 503],
    async handle({ params: { name } }) {
      const { status, status_context, middlewares, protocol, client_processes } = await (
        await workloads()
      ).get(name)
      return {
        status,
        ...(status_context ? { status_context } : {}),
        ...(middlewares ? { middlewares } : {}),
        ...(protocol ? { protocol } : {}),
        ...(client_processes === undefined ? {} : { client_processes }),
      }
    },
  })

  const slots = createStreamSlots(MOST_STREAMS)
  createRoutes(api, app, schemas)
  actionRoutes(api, app)
  denialRoutes(api, app)
  logRoutes(api, app)
  logStreamRoutes(api, app, slots)
  await eventRoute(api, app, slots)
}
