import * as t from 'typanion'
import {
  anyMap,
  boolean,
  type Check,
  type Limits,
  list,
  object,
  optional,
  string,
  strings,
} from './schema-checks.ts'

/** A server in the format of the MCP registry (server.json). */
export function serverJsonSchema(limits: Limits): Check {
  const { full, text, word } = limits
  const { inputs, args, transport } = inputSchemas(limits)
  return object({
    $schema: string,
    name: text(3, 200, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
    title: optional(text(1, 100)),
    description: text(1, 100),
    version: text(1, 255),
    websiteUrl: string,
    icons: optional(
      list(object({ src: text(1, 255), mimeType: string, sizes: optional(strings), theme: string })),
    ),
    repository: optional(
      object({
        url: full ? t.isString() : string,
        source: full ? t.isString() : string,
        id: string,
        subfolder: string,
      }),
    ),
    packages: optional(
      list(
        object({
          registryType: text(1, 255),
          registryBaseUrl: string,
          identifier: text(1, 4096),
          version: string,
          fileSha256: optional(word(/^[a-f0-9]{64}$/)),
          runtimeHint: string,
          transport: transport(['stdio', 'sse', 'streamable-http'], string),
          environmentVariables: inputs,
          runtimeArguments: args,
          packageArguments: args,
        }),
      ),
    ),
    remotes: optional(list(transport(['sse', 'streamable-http'], text(1, 4096, /^https?:\/\//)))),
    _meta: optional(anyMap),
  })
}

/** Variables and arguments, which packages and transports share. */
function inputSchemas({ oneOf }: Limits) {
  const variableMembers = {
    description: string,
    default: string,
    format: optional(oneOf(['string', 'number', 'boolean', 'filepath'])),
    placeholder: string,
    value: string,
    choices: optional(strings),
    isRequired: boolean,
    isSecret: boolean,
  }
  const variables = optional(t.isRecord(object(variableMembers)))
  const inputs = optional(list(object({ ...variableMembers, name: t.isString(), variables })))
  const args = optional(
    list(
      object({
        ...variableMembers,
        type: oneOf(['positional', 'named']),
        name: string,
        valueHint: string,
        isRepeated: boolean,
        variables,
      }),
    ),
  )
  const transport = (types: readonly string[], url: Check): Check =>
    object({ type: oneOf(types), url, headers: inputs, variables })
  return { inputs, args, transport }
}
