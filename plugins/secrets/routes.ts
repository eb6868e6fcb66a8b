import { secretName } from '../../src/contracts/secret-name.ts'
import type { Routes } from '../../src/http/api.ts'
import { bool, closed, described, filled, list, object, optional, text } from '../../src/lib/schema.ts'
import { failures } from './failures.ts'
import type { Secrets } from './service.ts'

const tag = 'secrets'
const path = '/api/v1beta/secrets'

const capabilities = object(
  { can_read: bool, can_write: bool, can_delete: bool, can_list: bool, can_cleanup: bool },
  closed,
)
const provider = object({ name: text, provider_type: text, capabilities }, closed)
const done = object({ key: text, message: text }, closed)

/** The operations on secrets. They accept values and never return one. */
export const secretRoutes: Routes = (api, app) => {
  const secrets = () => app.service('secrets')
  addProvider(api, secrets)
  addKeys(api, secrets)
}

type Api = Parameters<Routes>[0]
type Service = () => Promise<Secrets>

/** Choosing the provider, and showing the one in use. */
function addProvider(api: Api, secrets: Service): void {
  api.operation({
    id: 'setUpSecrets',
    method: 'POST',
    path,
    tag,
    summary: 'Choose where secrets are kept',
    body: object({
      provider_type: filled,
      password: optional(
        described(text, 'Not used: the key is made at random, and kept in the keyring of the system'),
      ),
    }),
    response: [201, object({ provider_type: text, message: text }, closed)],
    failures: [502],
    async handle({ body: { provider_type } }) {
      const service = await secrets()
      const before = (await service.choices()).some(choice => choice.current)
      await service.setUp(provider_type)
      const how = before ? 'reconfigured' : 'setup'
      return { provider_type, message: `Secrets provider ${how} successfully` }
    },
  })

  api.operation({
    id: 'getSecretsProvider',
    method: 'GET',
    path: `${path}/default`,
    tag,
    summary: 'The secrets provider in use, and what it can do',
    response: [200, provider],
    failures: [400, 404],
    async handle() {
      const { type, capabilities } = await (await secrets()).provider()
      return { name: 'default', provider_type: type, capabilities }
    },
  })
}

/** Listing, creating, updating and deleting. Writes run one after another, so the second of two equal creations fails. */
function addKeys(api: Api, secrets: Service): void {
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work)
    turn = mine.catch(() => undefined)
    return mine
  }

  api.operation({
    id: 'listSecrets',
    method: 'GET',
    path: `${path}/default/keys`,
    tag,
    summary: 'Names of the secrets, in order',
    response: [
      200,
      object({ keys: list(object({ key: text, description: optional(text) }, closed)) }, closed),
    ],
    failures: [400, 403, 404, 405, 502],
    handle: async () => ({ keys: await (await secrets()).list() }),
  })

  api.operation({
    id: 'createSecret',
    method: 'POST',
    path: `${path}/default/keys`,
    tag,
    summary: 'Store a new secret',
    body: object({ key: secretName, value: filled }),
    response: [201, done],
    failures: [404, 405, 409, 502],
    async handle({ body: { key, value } }) {
      const service = await secrets()
      await service.assertCanStore(key)
      await inTurn(async () => {
        if ((await service.find(key)) !== undefined) throw failures.secret_exists({ name: key })
        await service.set(key, value)
      })
      return { key, message: 'Secret created successfully' }
    },
  })

  api.operation({
    id: 'updateSecret',
    method: 'PUT',
    path: `${path}/default/keys/{key}`,
    tag,
    summary: 'Give a secret another value',
    params: { key: secretName },
    body: object({ value: filled }),
    response: [200, done],
    failures: [404, 405, 502],
    async handle({ params: { key }, body: { value } }) {
      const service = await secrets()
      await service.assertCanStore(key)
      await inTurn(async () => {
        await service.get(key)
        await service.set(key, value)
      })
      return { key, message: 'Secret updated successfully' }
    },
  })

  api.operation({
    id: 'deleteSecret',
    method: 'DELETE',
    path: `${path}/default/keys/{key}`,
    params: { key: secretName },
    tag,
    summary: 'Delete a secret',
    response: [204, 'empty'],
    failures: [400, 404, 405, 502],
    handle: async ({ params: { key } }) => (await secrets()).delete(key),
  })
}
