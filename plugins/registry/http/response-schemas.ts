import {
  anything,
  bool,
  closed,
  integer,
  list,
  map,
  object,
  optional,
  type Schema,
  text,
  texts,
} from '../../../src/lib/schema.ts'

const open = { additionalProperties: true }
const anyMap = map(anything)

const auth = object({
  issuer: text,
  client_id: text,
  audience: optional(text),
  scopes: optional(texts),
})

/** What a registry is set to; none of the three sources: the built-in one. */
export const sourceBody = object({
  url: optional(text),
  api_url: optional(text),
  local_path: optional(text),
  allow_private_ip: optional(bool),
  auth: optional(auth),
})

const summaryMembers = {
  name: text,
  version: text,
  last_updated: text,
  server_count: integer,
  type: text,
  source: text,
  auth_status: text,
  auth_type: text,
  auth_config: optional(auth),
}
export const summary = object(summaryMembers, closed)

const variable = object(
  {
    name: text,
    description: text,
    required: bool,
    default: optional(text),
    secret: optional(bool),
    choices: optional(texts),
  },
  closed,
)

const serverMembers = {
  name: optional(text),
  title: optional(text),
  description: text,
  tier: text,
  status: text,
  transport: text,
  tools: texts,
  overview: optional(text),
  repository_url: optional(text),
  tags: optional(texts),
  metadata: optional(anyMap),
  custom_metadata: optional(anyMap),
  env_vars: optional(list(variable)),
  proxy_port: optional(integer),
  stateless: optional(bool),
  tool_definitions: optional(list(anyMap)),
}

export const imageServer = object(
  {
    ...serverMembers,
    image: text,
    args: optional(texts),
    docker_tags: optional(texts),
    permissions: optional(anyMap),
    provenance: optional(anyMap),
    target_port: optional(integer),
  },
  closed,
)

export const remoteServer = object(
  {
    ...serverMembers,
    url: text,
    headers: optional(list(variable)),
    oauth_config: optional(anyMap),
  },
  closed,
)

const imageServers = map(imageServer)
const remoteServers = map(remoteServer)

export const detail = object(
  {
    ...summaryMembers,
    registry: object(
      {
        version: text,
        last_updated: text,
        servers: imageServers,
        remote_servers: optional(remoteServers),
        groups: optional(
          list(
            object(
              {
                name: text,
                description: text,
                servers: optional(imageServers),
                remote_servers: optional(remoteServers),
              },
              closed,
            ),
          ),
        ),
      },
      closed,
    ),
  },
  closed,
)

export const serverLists = object(
  { servers: list(imageServer), remote_servers: optional(list(remoteServer)) },
  closed,
)

export const oneServer = object(
  { is_remote: bool, server: optional(imageServer), remote_server: optional(remoteServer) },
  closed,
)

/** As the MCP registry's own schema says; what else an entry has goes through. */
export const serverEntry = object(
  { $schema: text, name: text, description: text, version: text },
  { ...open, description: 'A server.json document of the MCP registry, schema of 2025-12-11' },
)

export const skillEntry = object(
  { namespace: text, name: text, description: text, version: text },
  { ...open, description: 'A skill, as registries list it' },
)

const metadata = object({ total: integer, page: integer, limit: integer }, closed)
export const serverPage = object({ servers: list(serverEntry), metadata }, closed)
export const skillPage = object({ skills: list(skillEntry), metadata }, closed)

/** The members of a value that its schema names. */
export const onlyKnown = ({ properties = {} }: Schema, value: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).filter(([key, member]) => Object.hasOwn(properties, key) && member !== undefined),
  )
