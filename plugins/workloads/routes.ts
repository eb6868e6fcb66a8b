import { Type } from 'typebox'
import { Failure, isFailure } from '../../src/errors.ts'
import type { Api, Routes } from '../../src/http/api.ts'
import { missingVariables } from '../../src/http/missing-variables-schema.ts'
import { unacceptedPermissions } from '../../src/http/unaccepted-permissions-schema.ts'
import { assertWorkloadName } from '../state/index.ts'
import { actionRoutes } from './http/action-routes.ts'
import { eventRoute } from './http/event-route.ts'
import { logRoutes } from './http/log-routes.ts'
import { logStreamRoutes } from './http/log-stream-routes.ts'
import {
  createBody,
  editBody,
  nameAndPort,
  runConfig,
  workloadDetails,
  workloadItem,
} from './http/schemas.ts'
import { createStreamSlots } from './http/stream-slots.ts'
import { toDetails, toExport, toItem } from './http/to-details.ts'
import { toRunRequest } from './http/to-run-request.ts'

const tag = 'workloads'
const path = '/api/v1beta/workloads'

const MOST_STREAMS = 100

/** What a new or edited workload can fail with. */
const MAKING = [400, 403, 404, 502, 503, 504]
const failureSchemas = { 409: unacceptedPermissions, 422: missingVariables }

/** The operations on workloads. */
export const workloadRoutes: Routes = (api, app) => {
  const workloads = () => app.service('workloads')

  api.operation({
    id: 'listWorkloads',
    method: 'GET',
    path,
    tag,
    summary: 'Workloads by name; without `all` those that serve clients now',
    query: {
      all: { type: 'boolean', description: 'Also those that do not run' },
      group: { type: 'string', description: 'Only those of this group' },
    },
    response: [200, Type.Object({ workloads: Type.Array(workloadItem) }, { additionalProperties: false })],
    failures: [400, 404, 503],
    async handle({ query: { all, group } }) {
      if (group) await (await app.service('groups')).assertExists(group)
      const found = await (await workloads()).list({ all: all === 'true', ...(group ? { group } : {}) })
      return { workloads: found.map(toItem) }
    },
  })

  api.operation({
    id: 'createWorkload',
    method: 'POST',
    path,
    tag,
    summary: 'Make a workload; it is brought up behind the answer, as its status tells',
    body: createBody,
    response: [201, nameAndPort],
    failures: [...MAKING, 409],
    failureSchemas,
    slow: true,
    async handle({ body, signal }) {
      assertWorkloadName(body.name ?? '')
      const service = await workloads()
      const request = await toRunRequest(app, body, { signal })
      const prepared = await service.prepare(request).catch(asBadRequest)
      signal.throwIfAborted()
      const { config, up } = await service.create(prepared, { portIsGiven: request.given.has('proxy-port') })
      goOn(api, `Starting ${config.name}`, up)
      return { name: config.name, port: config.port }
    },
  })

  api.operation({
    id: 'getWorkload',
    method: 'GET',
    path: `${path}/{name}`,
    tag,
    summary: 'A workload, in the shape that it is created in',
    response: [200, workloadDetails],
    failures: [400, 404],
    async handle({ params: { name } }) {
      assertWorkloadName(name)
      return toDetails(await (await workloads()).config(name))
    },
  })

  api.operation({
    id: 'updateWorkload',
    method: 'POST',
    path: `${path}/{name}/edit`,
    tag,
    summary: 'Make a workload anew as the body says; what the details do not show stays unless it is named',
    body: editBody,
    response: [200, nameAndPort],
    failures: [...MAKING, 409],
    failureSchemas,
    slow: true,
    async handle({ params: { name }, body, signal }) {
      assertWorkloadName(name)
      const service = await workloads()
      const replaces = await service.config(name)
      const request = await toRunRequest(
        app,
        { ...body, name, proxy_port: body.proxy_port || replaces.port },
        { signal, replaces },
      )
      const config = await service.prepare(request).catch(asBadRequest)
      signal.throwIfAborted()
      const { up } = await service.replace(config)
      goOn(api, `Starting ${name} anew`, up)
      await up.catch(() => undefined) // told by its status; a stop that is asked for now comes after it
      return { name, port: config.port }
    },
  })

  api.operation({
    id: 'exportWorkload',
    method: 'GET',
    path: `${path}/{name}/export`,
    tag,
    summary: 'The run config of a workload',
    response: [200, runConfig],
    failures: [400, 404],
    async handle({ params: { name } }) {
      assertWorkloadName(name)
      return toExport(await (await workloads()).config(name))
    },
  })

  api.operation({
    id: 'getWorkloadStatus',
    method: 'GET',
    path: `${path}/{name}/status`,
    tag,
    summary: 'The status of a workload',
    response: [200, Type.Object({ status: Type.String() }, { additionalProperties: false })],
    failures: [400, 404, 503],
    async handle({ params: { name } }) {
      assertWorkloadName(name)
      return { status: (await (await workloads()).get(name)).status }
    },
  })

  const slots = createStreamSlots(MOST_STREAMS)
  actionRoutes(api, app)
  logRoutes(api, app)
  logStreamRoutes(api, app, slots)
  eventRoute(api, app, slots)
}

/** How it ends shows in the workload's status. */
const goOn = (api: Api, what: string, up: Promise<void>): void => api.background(what, () => up)

/** A port that somebody else has is the request's mistake; 409 is for a workload's name. */
function asBadRequest(error: unknown): never {
  if (isFailure(error, 'port_busy')) {
    throw new Failure(error.code, { text: error.message, status: 400 }, { cause: error })
  }
  throw error
}
