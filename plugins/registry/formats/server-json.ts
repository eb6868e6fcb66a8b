import {
  anything,
  bool,
  list,
  map,
  object,
  optional,
  type Schema,
  type TypeOf,
  text,
  texts,
} from '../../../src/lib/schema.ts'
import { choice, expected, limited, word } from './limits.ts'

/** Schema that written documents name (MCP registry, server.json of 2025-12-11). */
export const SERVER_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

const variableMembers = {
  description: optional(text),
  default: optional(text),
  format: optional(choice('string', 'number', 'boolean', 'filepath')),
  placeholder: optional(text),
  value: optional(text),
  choices: optional(texts),
  isRequired: optional(bool),
  isSecret: optional(bool),
}
const variable = object(variableMembers)
export type Variable = TypeOf<typeof variable>
const variables = optional(map(variable))

const input = object({ ...variableMembers, name: text, variables })
/** An environment variable or a header. */
export type Input = TypeOf<typeof input>

const argument = object({
  ...variableMembers,
  type: choice('positional', 'named'),
  name: optional(text),
  valueHint: optional(text),
  isRepeated: optional(bool),
  variables,
})
export type Argument = TypeOf<typeof argument>

const transport = <U extends Schema>(type: Schema<string>, url: U) =>
  object({ type, url, headers: optional(list(input)), variables })

const packageOf = object({
  /** oci, npm, pypi; `go` is ours; nuget and mcpb are kept and shown, but not run. */
  registryType: limited(1, 255),
  registryBaseUrl: optional(text),
  identifier: limited(1, 4096),
  version: optional(text),
  fileSha256: optional(word(/^[a-f0-9]{64}$/)),
  runtimeHint: optional(text),
  transport: transport(choice('stdio', 'sse', 'streamable-http'), optional(text)),
  environmentVariables: optional(list(input)),
  runtimeArguments: optional(list(argument)),
  packageArguments: optional(list(argument)),
})
export type Package = TypeOf<typeof packageOf>
export type TransportSpec = Package['transport']

const icon = object({
  src: limited(1, 255),
  mimeType: optional(text),
  sizes: optional(texts),
  theme: optional(text),
})

export const serverJson = object({
  $schema: optional(text),
  name: limited(3, 200, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: optional(limited(1, 100)),
  description: limited(1, 100),
  version: limited(1, 255),
  websiteUrl: optional(text),
  icons: optional(list(icon)),
  repository: optional(
    object({
      url: expected(text),
      source: expected(text),
      id: optional(text),
      subfolder: optional(text),
    }),
  ),
  packages: optional(list(packageOf)),
  remotes: optional(list(transport(choice('sse', 'streamable-http'), limited(1, 4096, /^https?:\/\//)))),
  _meta: optional(map(anything)),
})

/**
 * A server as the MCP registry describes it: our one internal model. Members that nobody here knows
 * are kept as they are.
 */
export type ServerJson = TypeOf<typeof serverJson>
