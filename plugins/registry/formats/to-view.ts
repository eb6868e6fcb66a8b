import { findExtension } from './extension.ts'
import type { Header, ImageServer, RemoteServer, ServerView } from './legacy.ts'
import { choosePackage, toImage } from './package-image.ts'
import type { EnvVar, Extension } from './server-facts.ts'
import type { Argument, Input, Package, ServerJson, TransportSpec, Variable } from './server-json.ts'

/** Takes out members that are undefined, so that documents compare and print as they are meant. */
export const compact = <T extends object>(value: { [K in keyof T]: T[K] | undefined }): T =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T

/**
 * A server as the management API and lists show it: the first remote if there is one, else the
 * package that would be run. The extension adds members under their own names; it has no say in what
 * runs, nor under which name.
 */
export function toView(server: ServerJson): ServerView {
  const {
    url: _,
    image: __,
    ...extension
  }: Extension & { url?: unknown; image?: unknown } = findExtension(server)?.extension ?? {}
  const [remote] = server.remotes ?? []
  const facts = compact<Pick<ImageServer, 'name' | 'title' | 'description' | 'repository_url'>>({
    name: server.name,
    title: server.title,
    description: server.description,
    repository_url: server.repository?.url,
  })
  const own = { ...facts, ...extension, name: server.name }
  if (remote) return { ...own, ...compact<RemoteServer>(fromRemote(remote)) }
  return { ...own, ...compact<ImageServer>(fromPackage(choosePackage(server.packages))) }
}

const fromRemote = ({ type, url, headers }: TransportSpec) => ({
  transport: type,
  url: url ?? '',
  headers: headers?.map(toHeader),
})

function fromPackage(chosen: Package | undefined) {
  if (!chosen) return { image: '' }
  const { transport, environmentVariables, runtimeArguments, packageArguments } = chosen
  const variables = [...(environmentVariables ?? []).map(toEnvVar), ...variablesOf(runtimeArguments)]
  return {
    transport: transport.type,
    image: toImage(chosen),
    target_port: transport.type === 'stdio' ? undefined : portOf(transport.url),
    env_vars: environmentVariables || variables.length ? variables : undefined,
    args: packageArguments?.length ? packageArguments.flatMap(argumentWords) : undefined,
  }
}

export function portOf(url: string | undefined): number | undefined {
  const [, text] = /^https?:\/\/[^/]*:(\d{1,5})(?:\/|$)/.exec(url ?? '') ?? []
  return text === undefined ? undefined : Number(text)
}

const toHeader = (input: Input): Header =>
  compact({
    name: input.name,
    description: input.description,
    default: input.default ?? fixedValue(input),
    choices: input.choices,
    required: input.isRequired,
    secret: input.isSecret,
  })

const toEnvVar = (input: Input): EnvVar =>
  compact({
    name: input.name,
    description: input.description,
    default: input.default ?? fixedValue(input),
    required: input.isRequired,
    secret: input.isSecret,
  })

/** A value without templates; templates need what only the user knows. */
const fixedValue = ({ value }: Variable): string | undefined =>
  value === undefined || /\{[^}]+\}/.test(value) ? undefined : value

/** `-e NAME=value` and `--env NAME={variable}` among the arguments for docker. */
function variablesOf(args: readonly Argument[] = []): EnvVar[] {
  return args
    .filter(({ type, name }) => type === 'named' && (name === '-e' || name === '--env'))
    .flatMap(({ value, variables }) => {
      const [, key, text = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(value ?? '') ?? []
      if (!key) return []
      const variable = variables?.[/^\{([^}]+)\}$/.exec(text)?.[1] ?? '']
      return [toEnvVar({ value: text, ...variable, name: key })]
    })
}

const argumentWords = ({ type, name, value, default: fallback }: Argument): string[] => [
  ...(type === 'named' && name ? [name] : []),
  ...[value ?? fallback].filter(word => word !== undefined && !/\{[^}]+\}/.test(word)).map(String),
]
