import { groupName } from '../../../src/contracts/group-name.ts'
import {
  PROXY_MODES,
  permissionProfileSchema,
  runConfigMembers,
  TRANSPORTS,
} from '../../../src/contracts/run-config.ts'
import { variableName } from '../../../src/contracts/variables.ts'
import { workloadMembers } from '../../../src/contracts/workload.ts'
import { secretReference } from '../../../src/http/secret-reference.ts'
import type { SectionRequest } from '../../../src/http/section-request.ts'
import { labelKey, labelValue } from '../../../src/lib/labels.ts'
import { publishedPort } from '../../../src/lib/published-port.ts'
import { coreCount, memorySize } from '../../../src/lib/resources.ts'
import {
  bool,
  closed,
  described,
  either,
  integer,
  list,
  type Members,
  map,
  mapOf,
  named,
  nullable,
  type ObjectOf,
  object,
  optional,
  pick,
  port,
  type Schema,
  text,
  textMap,
  texts,
} from '../../../src/lib/schema.ts'
import { orEmpty, wordOrEmpty } from '../../../src/lib/text-schema.ts'
import { workloadName } from '../../state/index.ts'
import { volume } from '../parse-mount-flags.ts'

const {
  last_upgrade: _,
  middlewares: __,
  protocol: ___,
  client_processes: ____,
  ...workloadItemMembers
} = workloadMembers

const webUrl: Schema<string> = { type: 'string', pattern: '^(?:[hH][tT][tT][pP][sS]?://.*)?$' }

/** A workload as lists show it. Texts may have values that later versions add. */
export const workloadItem = named(
  'Workload',
  object(
    { ...workloadItemMembers, transport_type: text, proxy_mode: optional(text), started_at: text },
    closed,
  ),
)

const permissionProfile = named(
  'PermissionProfile',
  described(permissionProfileSchema, 'What the server may read, write and reach'),
)

/**
 * Members whose features are not here yet: their shape is checked, and whatever is in them is refused, unless a
 * plugin has them in the request of its section.
 */
export const unsupported = {
  authz_config: optional(text),
  oidc: optional(object({})),
  tools: optional(texts),
  tools_override: optional(map(object({}))),
  oauth_config: optional(object({})),
  headers: optional(list(object({}))),
  header_forward: optional(object({})),
}

/** Members of ToolHive's requests, then those that a run config has and these have not. */
const editable = {
  ...pick(runConfigMembers, 'image', 'host', 'target_port', 'no_sandbox'),
  volumes: optional(list(volume)),
  env_vars: optional(mapOf(variableName, text)),
  group: optional(orEmpty(groupName)),
  url: optional(webUrl),
  cmd_arguments: optional(texts),
  proxy_port: optional(port),
  secrets: optional(
    list(either(secretReference, described(text, 'As a run config has it: `NAME,target=VARIABLE`'))),
  ),
  transport: optional(wordOrEmpty(TRANSPORTS)),
  proxy_mode: optional(wordOrEmpty(PROXY_MODES)),
  permission_profile: optional(permissionProfile),
  ...pick(runConfigMembers, 'source', 'cmd_args', 'runtime', 'target_host'),
  publish: optional(list(publishedPort)),
  remote_url: optional(webUrl),
  ...pick(runConfigMembers, 'env_file_dir', 'debug'),
  container_labels: optional(mapOf(labelKey, labelValue)),
  resources: optional(object({ memory: optional(orEmpty(memorySize)), cpus: optional(orEmpty(coreCount)) })),
  permission_profile_name_or_path: optional(
    described(text, '`none` or `network`; beside `permission_profile` it is only a name'),
  ),
  ...unsupported,
}

const creatable = {
  name: workloadName,
  registry: optional(wordOrEmpty(['default'])),
  server: optional(text),
  accept_permissions: optional(
    described(text, 'The hash of the mounts that the user has agreed to, from a 409'),
  ),
  ...editable,
}

/** A body that edits a workload, without the members of sections. */
export type EditBody = ObjectOf<typeof editable>
/** A body that creates a workload, without the members of sections; the name of an edit stands in the path. */
export type CreateBody = Partial<ObjectOf<typeof creatable>>

export const bulkBody = object({ names: optional(list(workloadName)), group: optional(orEmpty(groupName)) })

const oidc = object(
  {
    issuer: text,
    audience: text,
    jwks_url: text,
    introspection_url: text,
    client_id: text,
    client_secret: text,
    scopes: optional(texts),
  },
  closed,
)

const details = {
  name: text,
  image: text,
  url: optional(text),
  host: text,
  cmd_arguments: texts,
  target_port: integer,
  proxy_port: integer,
  env_vars: textMap,
  secrets: list(secretReference),
  volumes: texts,
  transport: text,
  authz_config: text,
  oidc,
  permission_profile: nullable(permissionProfile),
  proxy_mode: text,
  tools: texts,
  tools_override: map(object({})),
  oauth_config: object({}),
  no_sandbox: optional(bool),
  group: optional(text),
  isolation: optional(
    described(
      text,
      'What a local server may do, in one line, as `keelson status` shows it; not read in requests',
    ),
  ),
}

/** The details of a workload, without the members of sections. */
export type WorkloadDetails = ObjectOf<typeof details>

/** The schemas that have the members of sections too. */
export function composeSchemas(requests: readonly SectionRequest[]) {
  const bodies: Members = Object.assign({}, ...requests.map(({ body }) => body))
  return {
    /** What a workload is edited to; what the details do not show stays unless it is named. */
    editBody: object({ ...editable, ...bodies }) as Schema<EditBody>,
    createBody: object({ ...creatable, ...bodies }) as Schema<CreateBody>,
    /** A workload in the shape that it is created in. */
    workloadDetails: named(
      'WorkloadDetails',
      object(Object.assign({}, details, ...requests.map(request => request.details)), closed),
    ) as Schema<WorkloadDetails>,
  }
}

/** A run config; members of plugins stand beside those of the core. */
export const runConfig = named(
  'RunConfig',
  object(
    {
      schema_version: text,
      name: text,
      image: text,
      transport: text,
      host: text,
      port: integer,
      permission_profile: nullable(permissionProfile),
    },
    { additionalProperties: true, description: 'The run config, as `keelson export` writes it' },
  ),
)

export const nameAndPort = object({ name: text, port: integer }, closed)
