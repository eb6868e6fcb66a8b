import type { App } from '../../../src/app.ts'
import type { Api } from '../../../src/http/api.ts'
import type { TypeOf } from '../../../src/lib/schema.ts'
import { assertWorkloadName, workloadName } from '../../state/index.ts'
import { failures } from '../failures.ts'
import type { Outcome, Workloads } from '../service.ts'
import { bulkBody } from './schemas.ts'

const tag = 'workloads'
const path = '/api/v1beta/workloads'

type Act = (workloads: Workloads, names: readonly string[]) => Promise<readonly Outcome[]>

const ACTIONS: Readonly<Record<'Stop' | 'Restart' | 'Delete', Act>> = {
  Stop: (workloads, names) => workloads.stop(names),
  Delete: (workloads, names) => workloads.remove(names),
  Restart: (workloads, names) => workloads.restart(names),
}

/** Stops, restarts and deletes workloads. The response comes at once; the work goes on after it. */
export function actionRoutes(api: Api, app: App): void {
  /** Logs failures, which the status shows too. A workload that does not exist is not a failure. */
  function begin(verb: keyof typeof ACTIONS, names: readonly string[]): void {
    api.background(verb, async () => {
      for (const { name, error } of await ACTIONS[verb](await app.service('workloads'), names)) {
        if (error !== undefined) api.background(`${verb} ${name}`, () => Promise.reject(error))
      }
    })
  }

  async function namesOf({ names = [], group = '' }: TypeOf<typeof bulkBody>): Promise<readonly string[]> {
    if (names.length > 0 === (group !== '')) throw failures.bulk_choice()
    if (group === '') {
      names.forEach(assertWorkloadName)
      return [...new Set(names)]
    }
    const groups = await app.service('groups')
    if (!(await groups.find(group))) throw failures.bulk_group_unknown({ group })
    return groups.members(group)
  }

  for (const verb of ['Stop', 'Restart', 'Delete'] as const) {
    const word = verb.toLowerCase()
    api.operation({
      id: `${word}Workload`,
      method: verb === 'Delete' ? 'DELETE' : 'POST',
      path: verb === 'Delete' ? `${path}/{name}` : `${path}/{name}/${word}`,
      params: { name: workloadName },
      tag,
      summary: `${verb} a workload`,
      response: [202, 'empty'],
      failures: [400, 404],
      async handle({ params: { name } }) {
        await (await app.service('workloads')).config(name)
        begin(verb, [name])
      },
    })
    api.operation({
      id: `${word}Workloads`,
      method: 'POST',
      path: `${path}/${word}`,
      tag,
      summary: `${verb} several workloads, or those of a group`,
      body: bulkBody,
      response: [202, 'empty'],
      failures: [400],
      async handle({ body }) {
        begin(verb, await namesOf(body))
      },
    })
  }
}
