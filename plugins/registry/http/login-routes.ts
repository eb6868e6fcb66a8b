import type { Routes } from '../../../src/http/api.ts'
import { closed, object, text } from '../../../src/lib/schema.ts'

const tag = 'registry'
const path = '/api/v1beta/registry'
const style = 'registry'

/** Logging in to the registry, and out. */
export const loginRoutes: Routes = (api, app) => {
  const registry = () => app.service('registry')

  api.operation({
    id: 'loginToRegistry',
    method: 'POST',
    path: `${path}/auth/login`,
    tag,
    summary: 'Log in to the registry, in a browser on the machine of the server',
    response: [200, object({ status: text }, closed)],
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
    response: [200, object({ status: text }, closed)],
    failures: [400, 404],
    style,
    async handle() {
      await (await registry()).logout()
      return { status: 'logged_out' }
    },
  })
}
