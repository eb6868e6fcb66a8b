import type { PermissionProfile, RunConfig } from '../../src/contracts/run-config.ts'
import { maskQuery } from '../../src/lib/mask-query.ts'
import type { Planned } from './service.ts'

/** Members that have a line of their own, or say nothing about what the server may do. */
const SHOWN = new Set([
  ...[
    'schema_version',
    'name',
    'container_name',
    'port',
    'transport',
    'proxy_mode',
    'group',
    'source',
    'image',
  ],
  ...[
    'remote_url',
    'cmd_args',
    'env_vars',
    'secrets',
    'volumes',
    'permission_profile',
    'header_forward',
    'host',
  ],
  ...['target_host', 'target_port', 'isolate_network'],
])

/** What a person has to know before agreeing, one line each. */
export function describePlanned({ name, config, problem, left }: Planned): string[] {
  if (!config) return [name, line('not imported', problem ?? '')]
  const { env_vars = {}, secrets = [], volumes = [], cmd_args = [], header_forward: headers } = config
  const profile = config.permission_profile
  const others = Object.entries(config).flatMap(([member, value]) =>
    SHOWN.has(member) || isNothing(value) ? [] : [member],
  )
  const lines: [string, string | undefined][] = [
    ['runs', config.remote_url ? maskQuery(config.remote_url) : (config.source ?? config.image)],
    ['arguments', cmd_args.join(' ')],
    ['group', config.group === 'default' ? undefined : config.group],
    ['variables', Object.keys(env_vars).join(', ')],
    ['secrets', secrets.map(reference => reference.replace(',target=', ' as ')).join(', ')],
    [
      'headers',
      Object.keys({ ...headers?.add_plaintext_headers, ...headers?.add_headers_from_secret }).join(', '),
    ],
    [
      'folders',
      [...volumes, ...(profile?.write ?? []), ...(profile?.read ?? []).map(path => `${path} (read)`)].join(
        ', ',
      ),
    ],
    ['network', config.remote_url ? undefined : networkOf(config, profile)],
    ['listens on', config.host && config.host !== '127.0.0.1' ? config.host : undefined],
    ['settings', others.join(', ')],
    ...left.map((text): [string, string] => ['left behind', text.replace(/\bNAME\b/, config.name)]),
  ]
  const title = name === config.name ? name : `${name}, here ${config.name}`
  return [title, ...lines.flatMap(([label, text]) => (text ? [line(label, text)] : []))]
}

const line = (label: string, text: string): string => `  ${label.padEnd(12)} ${text}`

function networkOf({ isolate_network: isolated }: RunConfig, profile: PermissionProfile | undefined): string {
  const { mode, outbound } = profile?.network ?? {}
  if (profile?.privileged) return 'everything: the container is privileged'
  if (mode && mode !== 'bridge' && mode !== 'default') return `mode ${mode}`
  if (isolated === false) return 'everything: it is not isolated'
  if (!outbound || outbound.insecure_allow_all) return 'all public hosts'
  const hosts = outbound.allow_host ?? []
  const ports = outbound.allow_port?.length ? `, ports ${outbound.allow_port.join(', ')}` : ''
  return hosts.length ? `${hosts.join(', ')}${ports}` : 'nothing'
}

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value ?? {}).length === 0)
