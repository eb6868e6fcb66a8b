import { type Static, Type } from 'typebox'
import { Failure, isFailure } from '../../src/errors.ts'
import type { Routes } from '../../src/http/api.ts'
import { failures } from './failures.ts'
import { isRemote } from './formats/legacy.ts'
import { toView } from './formats/to-view.ts'
import { detail, oneServer, serverLists, sourceBody, summary } from './http/response-schemas.ts'
import { serverSecretRoutes } from './http/server-secret-routes.ts'
import { split, toAnswer, toRegistry } from './http/to-answers.ts'
import { unavailable } from './http/unavailable.ts'
import { decodeAgain, v01Routes } from './http/v01-routes.ts'

const tag = 'registry'
const path = '/api/v1beta/registry'
const style = 'registry'
const closed = { additionalProperties: false }
const READING = [404, 502, 503]

/** The operations on the registry. */
export const registryRoutes: Routes = (api, app) => {
  const registry = () => app.service('registry')

  api.operation({
    id: 'listRegistries',
    method: 'GET',
    path,
    tag,
    summary: 'The registry; there is one',
    response: [200, Type.Object({ registries: Type.Array(summary) }, closed)],
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
    response: [200, Type.Object({ type: Type.String() }, closed)],
    failures: [404, 502, 503],
    style,
    async handle({ params: { name }, body }) {
      assertDefault(name)
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
    response: [200, Type.Object({ status: Type.String() }, closed)],
    failures: READING,
    style,
    async handle({ params: { name }, signal }) {
      assertDefault(name)
      await (await registry()).document({ refresh: true, signal }).catch(unavailable)
      return { status: 'refreshed' }
    },
  })

  api.operation({
    id: 'loginToRegistry',
    method: 'POST',
    path: `${path}/auth/login`,
    tag,
    summary: 'Log in to the registry, in a browser on the machine of the server',
    response: [200, Type.Object({ status: Type.String() }, closed)],
    failures: [400, 403, 404, 405, 409, 502, 503, 504],
    style,
    slow: true,
    async handle({ signal }) {
      const service = await registry()
      await service.login({
        auth: {},
        person: {
          browser: true,
          signal,
          show: url => app.log.info(`Log in in the browser. If none opens, open this address: ${url}`),
        },
      })
      return { status: 'authenticated' }
    },
  })

  api.operation({
    id: 'logoutOfRegistry',
    method: 'POST',
    path: `${path}/auth/logout`,
    tag,
    summary: 'Forget the login to the registry',
    response: [200, Type.Object({ status: Type.String() }, closed)],
    failures: [400, 404],
    style,
    async handle() {
      await (await registry()).logout()
      return { status: 'logged_out' }
    },
  })

  api.operation({
    id: 'listServers',
    method: 'GET',
    path: `${path}/{name}/servers`,
    tag,
    summary: 'Servers by name',
    response: [200, serverLists],
    failures: READING,
    style,
    async handle({ params: { name }, signal }) {
      assertDefault(name)
      const { images, remotes } = split(await (await registry()).servers({ signal }).catch(unavailable))
      return { servers: images, ...(remotes.length ? { remote_servers: remotes } : {}) }
    },
  })

  api.operation({
    id: 'getServer',
    method: 'GET',
    path: `${path}/{name}/servers/{serverName}`,
    tag,
    summary: 'A server by its whole name, or by what stands behind the namespace',
    response: [200, oneServer],
    failures: [400, ...READING],
    style,
    async handle({ params: { name, serverName }, signal }) {
      assertDefault(name)
      const found = (await registry()).get(decodeAgain(serverName), { signal })
      const view = toView(await found.catch(asMissing).catch(unavailable))
      const answer = toAnswer(view)
      return isRemote(view)
        ? { is_remote: true, remote_server: answer }
        : { is_remote: false, server: answer }
    },
  })

  serverSecretRoutes(api, app)
  v01Routes(api, app)
}

function assertDefault(name: string): void {
  if (name !== 'default') throw failures.registry_missing({ name })
}

function sourceOf({ url, api_url, local_path }: Static<typeof sourceBody>): string | undefined {
  const given = [url, api_url, local_path].filter(value => value !== undefined)
  if (given.length > 1) throw failures.registry_sources()
  return given[0]
}

/** A short name of several servers names none. */
function asMissing(error: unknown): never {
  if (!isFailure(error, 'server_ambiguous')) throw error
  throw new Failure(error.code, { text: error.message, status: 404 }, { cause: error })
}

/** A file that is not there is the request's mistake; 404 is for the registry's name. */
function asBadRequest(error: unknown): never {
  if (!isFailure(error, 'file_missing')) throw error
  throw new Failure(error.code, { text: error.message, status: 400 }, { cause: error })
}
