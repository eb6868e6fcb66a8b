import { Type } from 'typebox'
import { bool, closed, optional, text, texts } from '../../../src/http/schema-shorthands.ts'

const open = { additionalProperties: true }
const anything = Type.Record(text, Type.Unknown())

const auth = Type.Object({
  issuer: text,
  client_id: text,
  audience: optional(text),
  scopes: optional(texts),
})

/** What a registry is set to; none of the three sources: the built-in one. */
export const sourceBody = Type.Object({
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
  server_count: Type.Integer(),
  type: text,
  source: text,
  auth_status: text,
  auth_type: text,
  auth_config: optional(auth),
}
export const summary = Type.Object(summaryMembers, closed)

const variable = Type.Object(
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
  metadata: optional(anything),
  custom_metadata: optional(anything),
  env_vars: optional(Type.Array(variable)),
  proxy_port: optional(Type.Integer()),
  stateless: optional(bool),
  tool_definitions: optional(Type.Array(anything)),
}

export const imageServer = Type.Object(
  {
    ...serverMembers,
    image: text,
    args: optional(texts),
    docker_tags: optional(texts),
    permissions: optional(anything),
    provenance: optional(anything),
    target_port: optional(Type.Integer()),
  },
  closed,
)

export const remoteServer = Type.Object(
  {
    ...serverMembers,
    url: text,
    headers: optional(Type.Array(variable)),
    oauth_config: optional(anything),
  },
  closed,
)

const imageServers = Type.Record(text, imageServer)
const remoteServers = Type.Record(text, remoteServer)

export const detail = Type.Object(
  {
    ...summaryMembers,
    registry: Type.Object(
      {
        version: text,
        last_updated: text,
        servers: imageServers,
        remote_servers: optional(remoteServers),
        groups: optional(
          Type.Array(
            Type.Object(
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

export const serverLists = Type.Object(
  { servers: Type.Array(imageServer), remote_servers: optional(Type.Array(remoteServer)) },
  closed,
)

export const oneServer = Type.Object(
  { is_remote: bool, server: optional(imageServer), remote_server: optional(remoteServer) },
  closed,
)

/** As the MCP registry's own schema says; what else an entry has goes through. */
export const serverEntry = Type.Object(
  { $schema: text, name: text, description: text, version: text },
  { ...open, description: 'A server.json document of the MCP registry, schema of 2025-12-11' },
)

export const skillEntry = Type.Object(
  { namespace: text, name: text, description: text, version: text },
  { ...open, description: 'A skill, as registries list it' },
)

const metadata = Type.Object({ total: Type.Integer(), page: Type.Integer(), limit: Type.Integer() }, closed)
export const serverPage = Type.Object({ servers: Type.Array(serverEntry), metadata }, closed)
export const skillPage = Type.Object({ skills: Type.Array(skillEntry), metadata }, closed)

/** The members of a value that its schema names. */
export const onlyKnown = (schema: { readonly properties: object }, value: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).filter(([key, member]) => key in schema.properties && member !== undefined),
  )
