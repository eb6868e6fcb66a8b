import type { App } from '../../../src/app.ts'
import { failures as core } from '../../../src/errors.ts'
import type { Api } from '../../../src/http/api.ts'
import { closed, described, list, object, optional, text } from '../../../src/lib/schema.ts'
import { failures } from '../failures.ts'
import { type Origin, secretsOf } from '../server-secrets.ts'
import { unavailable } from './unavailable.ts'
import { decodeAgain } from './v01-routes.ts'

const tag = 'registry'
const path = '/api/v1beta/registry/{name}/servers/{serverName}/secrets'

/** As the members of `secrets` of a workload: the name of a secret, and the variable that it becomes. */
const reference = object({ name: text, target: text }, closed)

/** Which secrets a server of the registry is given: what a person agreed to, here or on a terminal. */
export function serverSecretRoutes(api: Api, app: App): void {
  /** The server, as the registry in use lists it now. */
  async function originOf(name: string, serverName: string, signal: AbortSignal): Promise<Origin> {
    if (name !== 'default') throw failures.registry_missing({ name })
    const registry = await app.service('registry')
    const { name: server } = await registry.get(decodeAgain(serverName), { signal }).catch(unavailable)
    return { registry: (await registry.source()).place, server }
  }

  api.operation({
    id: 'listServerSecrets',
    method: 'GET',
    path,
    tag,
    summary: 'Secrets that the user has agreed to give to a server of the registry; never values',
    response: [200, object({ secrets: list(reference) }, closed)],
    failures: [400, 404, 502, 503],
    style: 'registry',
    async handle({ params: { name, serverName }, signal }) {
      const consents = (await app.service('secrets')).consents
      const agreed = await consents.of(await originOf(name, serverName, signal))
      return { secrets: agreed.map(({ secret, variable }) => ({ name: secret, target: variable })) }
    },
  })

  api.operation({
    id: 'giveServerSecret',
    method: 'PUT',
    path: `${path}/{variable}`,
    tag,
    summary:
      'Agree to give a server of the registry a secret, as this variable: one that is stored, or a value that is stored for this server alone',
    body: object({
      name: optional(described(text, 'Name of a stored secret')),
      value: optional(described(text, 'A new value, in the place of one from before')),
    }),
    response: [200, reference],
    failures: [400, 404, 405, 502, 503],
    style: 'registry',
    async handle({ params: { name, serverName, variable }, body, signal }) {
      if (Boolean(body.name) === Boolean(body.value)) {
        throw core.usage({ text: 'Give either the name of a stored secret, or a value.' })
      }
      const origin = await originOf(name, serverName, signal)
      const store = await secretsOf(app, origin)
      if (!store) throw core.service_missing({ service: 'secrets' })
      if (body.value) return { name: await store.store(variable, body.value), target: variable }
      const secret = body.name ?? ''
      await (await app.service('secrets')).get(secret)
      await store.agree(variable, secret)
      return { name: secret, target: variable }
    },
  })
}
