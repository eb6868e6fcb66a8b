import { Failure, isFailure } from '../../../src/errors.ts'
import type { Routes } from '../../../src/http/api.ts'
import { isRemote } from '../formats/legacy.ts'
import { toView } from '../formats/to-view.ts'
import { assertDefault } from './assert-default.ts'
import { oneServer, serverLists } from './response-schemas.ts'
import { split, toAnswer } from './to-answers.ts'
import { unavailable } from './unavailable.ts'
import { decodeAgain } from './v01-routes.ts'

const tag = 'registry'
const path = '/api/v1beta/registry'
const style = 'registry'
const READING = [404, 502, 503]

/** Servers of the registry, in the shapes of ToolHive's API. */
export const serverRoutes: Routes = (api, app) => {
  const registry = () => app.service('registry')

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
    summary: 'A server by its full name, or by the part after the namespace',
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
}

/** A short name of several servers names none. */
function asMissing(error: unknown): never {
  if (!isFailure(error, 'server_ambiguous')) throw error
  throw new Failure(error.code, { text: error.message, status: 404 }, { cause: error })
}
