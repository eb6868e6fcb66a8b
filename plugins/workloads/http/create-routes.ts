import type { App } from '../../../src/app.ts'
import { Failure, isFailure } from '../../../src/errors.ts'
import type { Api } from '../../../src/http/api.ts'
import { missingVariables } from '../../../src/http/missing-variables-schema.ts'
import { sectionRequests } from '../../../src/http/section-request.ts'
import { unacceptedPermissions } from '../../../src/http/unaccepted-permissions-schema.ts'
import { workloadName } from '../../state/index.ts'
import { findLiveChange } from '../change/find-live-change.ts'
import { type composeSchemas, nameAndPort } from './schemas.ts'
import { toDetails } from './to-details.ts'
import { toRunRequest } from './to-run-request.ts'

const tag = 'workloads'
const path = '/api/v1beta/workloads'

/** The failures of a new or edited workload. */
const CREATE_FAILURES = [400, 403, 404, 502, 503, 504]
const failureSchemas = { 409: unacceptedPermissions, 422: missingVariables }

/** The operations that create a workload, or create it anew from an edited request. */
export function createRoutes(
  api: Api,
  app: App,
  { createBody, editBody }: ReturnType<typeof composeSchemas>,
): void {
  const workloads = () => app.service('workloads')

  api.operation({
    id: 'createWorkload',
    method: 'POST',
    path,
    tag,
    summary: 'Make a workload; it starts after the response, as its status shows',
    body: createBody,
    response: [201, nameAndPort],
    failures: [...CREATE_FAILURES, 409],
    failureSchemas,
    slow: true,
    async handle({ body, signal }) {
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
    id: 'updateWorkload',
    method: 'POST',
    path: `${path}/{name}/edit`,
    params: { name: workloadName },
    tag,
    summary: 'Make a workload anew as the body says; what the details do not show stays unless it is named',
    body: editBody,
    response: [200, nameAndPort],
    failures: [...CREATE_FAILURES, 409],
    failureSchemas,
    slow: true,
    assertThere: async ({ name }) => (await workloads()).config(name),
    async handle({ params: { name }, body, signal }) {
      const service = await workloads()
      const replaces = await service.config(name)
      const request = await toRunRequest(
        app,
        { ...body, ...NOT_EDITED, name, proxy_port: body.proxy_port || replaces.port },
        { signal, replaces },
      )
      const config = await service.prepare(request).catch(asBadRequest)
      signal.throwIfAborted()
      const shown = { ...toDetails(replaces, await sectionRequests(app)) }
      const changeLive = await findLiveChange(app, replaces, config, shown)
      const { up } = await service.replace(replaces, config, changeLive)
      goOn(api, `Starting ${name} anew`, up)
      await up.catch(() => undefined) // the status shows a failure; a stop that is requested now comes after it
      return { name, port: config.port }
    },
  })
}

/** Members of a create that an edit ignores, as ToolHive's does. */
const NOT_EDITED = { registry: '', server: '' } as const

/** The status of the workload shows how it ends. */
const goOn = (api: Api, what: string, up: Promise<void>): void => api.background(what, () => up)

/** A port in use is an error of the request, so 400. A name in use is 409. */
function asBadRequest(error: unknown): never {
  if (isFailure(error, 'port_busy')) {
    throw new Failure(error.code, { text: error.message, status: 400 }, { cause: error })
  }
  throw error
}
