import { Failure, isFailure } from '../../src/errors.ts'
import type { Routes } from '../../src/http/api.ts'
import { closed, list, object, type TypeOf, text } from '../../src/lib/schema.ts'
import { failures } from './failures.ts'
import { assertDefault } from './http/assert-default.ts'
import { loginRoutes } from './http/login-routes.ts'
import { detail, sourceBody, summary } from './http/response-schemas.ts'
import { serverRoutes } from './http/server-routes.ts'
import { serverSecretRoutes } from './http/server-secret-routes.ts'
import { toRegistry } from './http/to-answers.ts'
import { unavailable } from './http/unavailable.ts'
import { v01Routes } from './http/v01-routes.ts'

const tag = 'registry'
const path = '/api/v1beta/registry'
const style = 'registry'
const READING = [404, 502, 503]

/** The operations on the registry. Long because each operation is declared whole. */
export const registryRoutes: Routes = (api, app) => {
  const registry = () => app.service('registry')

  api.operation({
    id: 'listRegistries',
    method: 'GET',
    path,
    tag,
    summary: 'The registry; there is one',
    response: [200, object({ registries: list(summary) }, closed)],
    failures: [502, 503],
    style,
    handle: async ({ signal }) => ({
      registries: [await (await registry()).summary({ signal }).catch(unavailable)],
    }),
  })

  api.operation({
    id: 'addRegistry',
    method: 'POST',
    path,
    tag,
    summary: 'Always refused: there is one registry',
    response: [201, 'empty'],
    failures: [501],
    style,
    handle() {
      throw failures.registry_single()
    },
  })

  api.operation({
    id: 'getRegistry',
    method: 'GET',
    path: `${path}/{name}`,
    tag,
    summary: 'The registry with all of its servers',
    response: [200, detail],
    failures: READING,
    style,
    async handle({ params: { name }, signal }) {
      assertDefault(name)
      const service = await registry()
      const facts = await service.summary({ signal }).catch(unavailable)
      const document = await service.document({ signal }).catch(unavailable)
      return { ...facts, registry: toRegistry(document, document.servers) }
    },
  })

  api.operation({
    id: 'updateRegistry',
    method: 'PUT',
    path: `${path}/{name}`,
    tag,
    summary: 'Read the registry from elsewhere; an empty body goes back to the built-in catalogue',
    body: sourceBody,
    response: [200, object({ type: text }, closed)],
    failures: [404, 502, 503],
    style,
    assertThere: ({ name }) => assertDefault(name),
    async handle({ body }) {
      const source = sourceOf(body)
      const service = await registry()
      if (source === undefined) {
        await service.unsetSource()
        return { type: 'default' }
      }
      const allowPrivate = body.allow_private_ip === true
      const { kind } = await service
        .setSource({ source, allowPrivate, auth: body.auth, cwd: process.cwd() })
        .catch(asBadRequest)
      return { type: kind }
    },
  })

  api.operation({
    id: 'removeRegistry',
    method: 'DELETE',
    path: `${path}/{name}`,
    tag,
    summary: 'Always refused: there is one registry, and it stays',
    response: [204, 'empty'],
    failures: [400, 404],
    style,
    handle({ params: { name } }) {
      assertDefault(name)
      throw failures.registry_stays()
    },
  })

  api.operation({
    id: 'refreshRegistry',
    method: 'POST',
    path: `${path}/{name}/refresh`,
    tag,
    summary: 'Read the registry anew',
    response: [200, object({ status: text }, closed)],
    failures: READING,
    style,
    async handle({ params: { name }, signal }) {
      assertDefault(name)
      await (await registry()).document({ refresh: true, signal }).catch(unavailable)
      return { status: 'refreshed' }
    },
  })

  loginRoutes(api, app)
  serverRoutes(api, app)
  serverSecretRoutes(api, app)
  v01Routes(api, app)
}

function sourceOf({ url, api_url, local_path }: TypeOf<typeof sourceBody>): string | undefined {
  const given = [url, api_url, local_path].filter(value => value !== undefined)
  if (given.length > 1) throw failures.registry_sources()
  return given[0]
}

/** A file that is not there is the request's mistake; 404 is for the registry's name. */
function asBadRequest(error: unknown): never {
  if (!isFailure(error, 'file_missing')) throw error
  throw new Failure(error.code, { text: error.message, status: 400 }, { cause: error })
}
