import { groupName } from '../../src/contracts/group-name.ts'
import { assertVariables } from '../../src/contracts/variables.ts'
import type { Routes } from '../../src/http/api.ts'
import { missingVariables } from '../../src/http/missing-variables-schema.ts'
import { unacceptedPermissions } from '../../src/http/unaccepted-permissions-schema.ts'
import {
  bool,
  closed,
  described,
  list,
  object,
  oneOf,
  optional,
  text,
  textMap,
  texts,
} from '../../src/lib/schema.ts'
import { orEmpty } from '../../src/lib/text-schema.ts'
import { workloadName } from '../state/index.ts'

const tag = 'workloads'
const path = '/api/v1beta/workloads'
const change = object({ from: text, to: text }, closed)

const variable = object(
  {
    name: text,
    description: optional(text),
    required: bool,
    secret: optional(bool),
    default: optional(text),
  },
  closed,
)

const result = object(
  {
    workload_name: text,
    registry_server: optional(text),
    status: oneOf(['up-to-date', 'upgrade-available', 'not-registry-sourced', 'server-not-found', 'unknown']),
    current_image: optional(text),
    candidate_image: optional(text),
    reason: optional(text),
    env_var_drift: optional(object({ added: list(variable), removed: list(variable) }, closed)),
    config_drift: optional(
      object({ transport: optional(change), permission_profile: optional(change) }, closed),
    ),
  },
  closed,
)

const applyBody = object(
  {
    env: optional(described(textMap, 'Variables; these values win over those there are')),
    accept_permissions: optional(
      described(text, 'The hash of the mounts that the user has agreed to, from a 409'),
    ),
    secrets: optional(described(texts, 'References, `NAME,target=VARIABLE`; never values')),
  },
  closed,
)

/** The operations on upgrades. */
export const upgradeRoutes: Routes = (api, app) => {
  const upgrades = () => app.service('upgrades')

  api.operation({
    id: 'checkUpgrades',
    method: 'GET',
    path: `${path}/upgrade-check`,
    tag,
    summary: 'What the registry has for workloads, by name; without `all` for those that serve clients now',
    query: {
      all: { type: 'boolean', description: 'Also those that do not run' },
      group: described(orEmpty(groupName), 'Only those of this group'),
    },
    response: [200, object({ results: list(result) }, closed)],
    failures: [400, 404, 503],
    async handle({ query: { all, group } }) {
      if (group) await (await app.service('groups')).assertExists(group)
      return {
        results: await (await upgrades()).checkAll({ all: all === 'true', group: group || undefined }),
      }
    },
  })

  api.operation({
    id: 'checkUpgrade',
    method: 'GET',
    path: `${path}/{name}/upgrade-check`,
    params: { name: workloadName },
    tag,
    summary: 'What the registry has for a workload; nothing is fetched or changed',
    response: [200, object({ result }, closed)],
    failures: [400, 404, 503],
    async handle({ params: { name } }) {
      return { result: await (await upgrades()).check(name) }
    },
  })

  api.operation({
    id: 'applyUpgrade',
    method: 'POST',
    path: `${path}/{name}/upgrade`,
    params: { name: workloadName },
    tag,
    summary:
      'Put the newer version of a workload in its place; the result is what was found before, and with any other status than `upgrade-available` nothing was done',
    body: applyBody,
    bodyOptional: true,
    response: [200, object({ result }, closed)],
    failures: [400, 404, 409, 422, 500, 503],
    failureSchemas: { 409: unacceptedPermissions, 422: missingVariables },
    slow: true,
    assertThere: async ({ name }) => (await app.service('workloadStore')).configs.get(name),
    async handle({ params: { name }, body, signal }) {
      const { env = {}, secrets = [], accept_permissions: acceptPermissions } = body ?? {}
      assertVariables(env)
      const options = { env, secrets, acceptPermissions, signal }
      return { result: (await (await upgrades()).apply(name, options)).check }
    },
  })
}
