import type { Routes } from '../../src/http/api.ts'
import { closed, object, oneOf, optional, text, time } from '../../src/lib/schema.ts'
import { workloadName } from '../state/index.ts'
import { createBegunLogins } from './http/begun-logins.ts'
import { assertNotLocked } from './logins/log-in-for-run.ts'

const path = '/api/v1beta/workloads/{name}/login'
const tag = 'workloads'

const login = object(
  {
    state: oneOf(['waiting', 'done']),
    url: optional(text),
    user_code: optional(text),
    expires_at: optional(time),
  },
  closed,
)

/** Logs in to the remote server of a workload with the browser of whoever asks. */
export const loginRoutes: Routes = (api, app) => {
  const logins = createBegunLogins(app, api)
  api.events({ subscribe: logins.subscribe })

  api.operation({
    id: 'beginWorkloadLogin',
    method: 'POST',
    path,
    params: { name: workloadName },
    tag,
    summary:
      'Begin a login to the remote server: a person opens `url` in a browser of this machine before `expires_at`. While one is under way, it is that one; `done`: somebody else has logged in meanwhile. The event `login-ended` tells how it ended',
    response: [200, login],
    failures: [400, 404, 409, 502, 504],
    async handle({ params: { name }, signal }) {
      await assertNotLocked(app)
      const waiting = await logins.begin(name, signal)
      return waiting ? { state: 'waiting' as const, ...waiting } : { state: 'done' as const }
    },
  })

  api.operation({
    id: 'cancelWorkloadLogin',
    method: 'DELETE',
    path,
    params: { name: workloadName },
    tag,
    summary: 'Give up a login that is under way',
    response: [204, 'empty'],
    failures: [400, 404],
    async handle({ params: { name } }) {
      await (await app.service('workloadStore')).configs.get(name)
      await logins.cancel(name)
    },
  })
}
