import { clean } from '../../src/cli/output.ts'
import { type ImageServer, isRemote, type RemoteServer } from './formats/legacy.ts'
import type { EnvVar } from './formats/server-facts.ts'
import type { ServerJson } from './formats/server-json.ts'
import { toView } from './formats/to-view.ts'
import { narrowPermissions } from './narrow-permissions.ts'
import { withheldArguments } from './withheld-arguments.ts'

/** A server for people, one fact a line; `asked` is the name they know it by. */
export function describeServer(server: ServerJson, asked: string): string[] {
  const view = toView(server)
  const { env_vars = [], tools = [], tags = [], metadata, custom_metadata } = view
  const lines = [
    line('Name', server.name),
    line('Type', isRemote(view) ? 'remote' : 'container'),
    line('Description', view.description),
    line('Tier', view.tier),
    line('Status', view.status),
    line('Transport', view.transport),
    ...(isRemote(view) ? remoteLines(view) : imageLines(view)),
    ...section('Engine arguments (not passed on)', withheldArguments(server)),
    line('Repository URL', view.repository_url),
    line('Popularity', metadata?.stars === undefined ? undefined : `${metadata.stars} stars`),
    line('Last Updated', metadata?.last_updated),
    ...section('Tools', tools),
    ...section('Environment Variables', env_vars.map(describeVariable)),
    line('Tags', tags.join(', ')),
    ...section(
      'Custom Metadata',
      Object.entries(custom_metadata ?? {}).map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
    ),
    '',
    'Run it:',
    `  keelson run ${asked}${exampleFlags(env_vars)}`,
  ]
  return lines.filter(text => text !== undefined)
}

const line = (label: string, value: string | undefined): string | undefined =>
  value ? `${label}: ${clean(value)}` : undefined

const section = (label: string, items: readonly string[]): string[] =>
  items.length ? [`${label}:`, ...items.map(item => `  - ${clean(item)}`)] : []

function imageLines(view: ImageServer): (string | undefined)[] {
  const { read = [], write = [], network } = view.permissions ?? {}
  const outbound = network?.outbound
  const reach = outbound?.insecure_allow_all ? 'everything' : outbound?.allow_host?.join(', ') || 'nothing'
  const ports = outbound?.allow_port?.join(', ')
  return [
    line('Image', view.image),
    line('Target Port', view.target_port?.toString()),
    line('Has Provenance', view.provenance ? 'yes' : 'no'),
    ...(view.permissions
      ? section('Permissions', [
          ...(read.length ? [`reads ${read.join(', ')} (you are asked)`] : []),
          ...(write.length ? [`writes ${write.join(', ')} (you are asked)`] : []),
          `reaches ${reach}${ports ? ` on port ${ports}` : ''}`,
        ])
      : []),
    ...section(
      'Refused, so it does not run as it is',
      view.permissions ? narrowPermissions(view.permissions).problems : [],
    ),
  ]
}

function remoteLines(view: RemoteServer): (string | undefined)[] {
  const { oauth_config: oauth } = view
  return [
    line('URL', view.url),
    ...section('Headers', (view.headers ?? []).map(describeVariable)),
    ...(oauth
      ? section('OAuth Configuration', [
          ...(oauth.issuer ? [`issuer ${oauth.issuer}`] : []),
          ...(oauth.authorize_url ? [`authorization ${oauth.authorize_url}`] : []),
          ...(oauth.token_url ? [`token ${oauth.token_url}`] : []),
          ...(oauth.client_id ? [`client ${oauth.client_id}`] : []),
          ...(oauth.resource ? [`resource ${oauth.resource}`] : []),
          ...(oauth.scopes?.length ? [`scopes ${oauth.scopes.join(' ')}`] : []),
        ])
      : []),
  ]
}

function describeVariable({ name, description, required, secret, default: fallback }: EnvVar): string {
  const marks = [...(required ? ['required'] : []), ...(secret ? ['secret'] : [])]
  const shown = fallback === undefined || secret ? '' : ` [${fallback}]`
  return `${name}${marks.length ? ` (${marks.join(', ')})` : ''}${description ? `: ${description}` : ''}${shown}`
}

/** What has to be given: values with -e, secrets by reference. */
function exampleFlags(variables: readonly EnvVar[]): string {
  return variables
    .filter(variable => variable.required && variable.default === undefined)
    .map(({ name, secret }) => (secret ? ` --secret ${name},target=${name}` : ` -e ${name}=…`))
    .join('')
}
