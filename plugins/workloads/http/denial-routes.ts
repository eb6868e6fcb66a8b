import type { App } from '../../../src/app.ts'
import type { Api } from '../../../src/http/api.ts'
import {
  closed,
  described,
  integer,
  list,
  object,
  optional,
  port,
  text,
  texts,
} from '../../../src/lib/schema.ts'
import { workloadName } from '../../state/index.ts'
import { failures } from '../failures.ts'

const tag = 'workloads'
const path = '/api/v1beta/workloads/{name}'
const params = { name: workloadName }

/** So many are shown; a server that tries many names is no reason to show more. */
const MOST = 50

const outbound = object({ allow_host: texts, allow_port: list(integer) }, closed)
const denial = object(
  {
    time: text,
    host: text,
    port: integer,
    rule: optional(text),
    reason: optional(text),
    widened: optional(
      described(
        outbound,
        'The lists of the permission profile once they allow it; an empty list sets no condition',
      ),
    ),
  },
  closed,
)

/** What an isolated workload was denied, and a way to allow it. */
export function denialRoutes(api: Api, app: App): void {
  api.operation({
    id: 'listWorkloadDenials',
    method: 'GET',
    path: `${path}/denials`,
    params,
    tag,
    summary: 'The destinations that an isolated workload was denied lately, the last one first',
    response: [200, object({ denials: list(denial) }, closed)],
    failures: [400, 404],
    async handle({ params: { name } }) {
      const [workloads, egress] = await Promise.all([app.service('workloads'), app.service('egress')])
      const config = await workloads.config(name)
      const denials = (await egress.denials(name)).slice(0, MOST)
      const shown = denials.map(async ({ time, host = '', port = 0, rule, reason }) => {
        const widened = await egress.widened(config, { host, port })
        return {
          ...{ time, host, port },
          ...(rule === undefined ? {} : { rule }),
          ...(reason === undefined ? {} : { reason }),
          ...(widened ? { widened } : {}),
        }
      })
      return { denials: await Promise.all(shown) }
    },
  })

  api.operation({
    id: 'allowWorkloadDestination',
    method: 'POST',
    path: `${path}/denials/allow`,
    params,
    tag,
    summary:
      'Widens the lists of the permission profile so that the workload may reach a destination on the public internet',
    body: object({ host: text, port: { ...port, minimum: 1 } }, closed),
    response: [200, outbound],
    failures: [400, 404, 409, 422, 502, 503],
    slow: true,
    async handle({ params: { name }, body }) {
      const [workloads, egress] = await Promise.all([app.service('workloads'), app.service('egress')])
      const before = await workloads.config(name)
      const widened = await egress.widened(before, body)
      const config = widened && (await egress.allow(before, body))
      if (!config) throw failures.destination_not_allowed({ name, where: `${body.host}:${body.port}` })
      await workloads.edit(before, config)
      return widened
    },
  })
}
