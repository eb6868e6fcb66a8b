import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCache } from '../../../plugins/registry/sources/page-cache.ts'
import { pagesOf, registryServer } from '../registry-server.ts'

/** How a hostile entry is published. `public`: an API on the internet, whose answer was read a moment ago. */
export const FORMS = ['older file', 'server.json file', 'API', 'public API'] as const
export type Form = (typeof FORMS)[number]

/** What a stranger publishes: what runs, what it wants, and how it does so beside the permissions. */
export interface HostileEntry {
  readonly image?: string
  readonly url?: string
  readonly transport?: string
  readonly permissions?: object
  readonly args?: readonly string[]
  readonly env_vars?: readonly object[]
  readonly proxy_port?: number
  /** Members of server.json alone: of the package, of the remote, and of what publishers add. */
  readonly package?: object
  readonly remote?: object
  readonly extension?: object
}

const PUBLISHER = 'io.modelcontextprotocol.registry/publisher-provided'
const NAMESPACE = 'com.attacker'
const PUBLIC = 'https://registry.example.com'

/** The name by which an entry is run. */
export const nameIn = (form: Form, name: string): string =>
  form === 'older file' ? name : `${NAMESPACE}/${name}`

/** Publishes entries in one form, and sets that registry for the user of the home. */
export async function publish(
  home: string,
  form: Form,
  entries: Readonly<Record<string, HostileEntry>>,
): Promise<void> {
  const path = join(home, 'hostile-registry.json')
  if (form === 'older file') {
    const servers = Object.entries(entries).map(
      ([name, entry]) => [name, { description: name, ...entry }] as const,
    )
    const isRemote = ([, entry]: (typeof servers)[number]) => entry.url !== undefined
    await writeFile(
      path,
      JSON.stringify({
        version: '1.0.0',
        servers: Object.fromEntries(servers.filter(one => !isRemote(one))),
        remote_servers: Object.fromEntries(servers.filter(isRemote)),
      }),
    )
    return set(home, { local_registry_path: path })
  }
  const servers = Object.entries(entries).map(([name, entry]) => toServerJson(name, entry))
  if (form === 'server.json file') {
    await writeFile(path, JSON.stringify({ version: '1.0.0', meta: {}, data: { servers } }))
    return set(home, { local_registry_path: path })
  }
  if (form === 'API') {
    const { url } = await registryServer(pagesOf(servers, 100))
    return set(home, { registry_api_url: url, allow_private_registry_ip: true })
  }
  const text = JSON.stringify({ servers: servers.map(server => ({ server, _meta: {} })) })
  await createCache({ folder: join(home, '.cache/keelson/registry') }).write(PUBLIC, [
    { url: `${PUBLIC}/v0.1/servers?limit=100&version=latest`, text },
  ])
  return set(home, { registry_api_url: PUBLIC })
}

async function set(home: string, settings: object): Promise<void> {
  const folder = join(home, '.config/keelson')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'config.json'), JSON.stringify(settings))
}

function toServerJson(name: string, entry: HostileEntry) {
  const { image = '', url, transport = 'stdio', permissions, args, env_vars = [], proxy_port } = entry
  const added = { status: 'active', permissions, args, proxy_port, ...entry.extension }
  const [, scheme, reference = ''] = /^([a-z]+):\/\/(.+)$/.exec(image) ?? []
  const at = reference.lastIndexOf('@')
  const types: Record<string, string> = { npx: 'npm', uvx: 'pypi', go: 'go' }
  const found = scheme
    ? { registryType: types[scheme], identifier: reference.slice(0, at), version: reference.slice(at + 1) }
    : { registryType: 'oci', identifier: image }
  return {
    name: `${NAMESPACE}/${name}`,
    description: name,
    version: '1.0.0',
    ...(url === undefined
      ? {
          packages: [
            { ...found, transport: { type: transport }, environmentVariables: env_vars, ...entry.package },
          ],
        }
      : { remotes: [{ type: transport, url, ...entry.remote }] }),
    _meta: { [PUBLISHER]: { 'io.github.stacklok': { [url ?? image]: added } } },
  }
}
