import { homedir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { readFileIfThere } from './atomic-file.ts'
import { pickVariables } from './pick-variables.ts'
import { PUBLIC_PYPI } from './public-registries.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The part of pip's or uv's configuration that says where packages come from. */
export interface PypiSettings {
  /** Addresses of the indexes, the main one first. */
  readonly indexes: readonly string[]
  /** The variables that say so to the tool, with the logins that are part of the addresses. */
  readonly env: Readonly<Record<string, string>>
  /** Files that they name: certificates. */
  readonly files: readonly string[]
}

/** The main index and further ones, as written. */
interface Indexes {
  readonly main?: string | undefined
  readonly more: readonly string[]
}

/**
 * Reads what the machine and the user have set up for a tool; where that names no index, what they have
 * set up for the other one. Settings in the folder where a tool works are never read.
 */
export async function readPypiSettings(env: Env, tool: 'pip' | 'uv'): Promise<PypiSettings> {
  const pip = await readPip(env)
  const uv = await readUv(env)
  const inOrder = tool === 'pip' ? [pip.indexes, uv] : [uv, pip.indexes]
  const { main = PUBLIC_PYPI, more } = inOrder.find(isSet) ?? { more: [] }
  const addresses = [main, ...more].map(addressOf)
  const own =
    tool === 'uv'
      ? { ...uvVariables(env), UV_DEFAULT_INDEX: main, UV_INDEX: more.join(' ') }
      : {
          ...pip.variables,
          PIP_INDEX_URL: addressOf(main),
          PIP_EXTRA_INDEX_URL: addresses.slice(1).join(' '),
        }
  return {
    indexes: addresses.filter(address => URL.canParse(address)),
    env: Object.fromEntries(Object.entries(own).filter(([, value]) => value !== '')),
    files: tool === 'pip' && pip.variables.PIP_CERT ? [pip.variables.PIP_CERT] : [],
  }
}

const isSet = ({ main, more }: Indexes): boolean => main !== undefined || more.length > 0

/** uv may put a name in front: `name=https://…`. */
const addressOf = (index: string): string => index.replace(/^[A-Za-z0-9._-]+=(?=https?:)/, '')

const words = (text: string | undefined): string[] => (text ?? '').split(/[\s,]+/).filter(Boolean)

const configFolder = (env: Env): string => env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config')

async function readPip(env: Env) {
  const files = [
    '/etc/xdg/pip/pip.conf',
    '/etc/pip.conf',
    join(env.HOME || homedir(), '.pip', 'pip.conf'),
    join(configFolder(env), 'pip', 'pip.conf'),
    ...(env.PIP_CONFIG_FILE ? [env.PIP_CONFIG_FILE] : []),
  ]
  const settings = new Map<string, string>()
  for (const path of files) {
    const text = await readFileIfThere(path).catch(() => undefined)
    for (const [key, value] of parsePipConf(text ?? '')) settings.set(key, value)
  }
  const of = (name: string) => env[`PIP_${name.toUpperCase().replaceAll('-', '_')}`] || settings.get(name)
  return {
    indexes: { main: of('index-url'), more: words(of('extra-index-url')) },
    variables: {
      PIP_CONFIG_FILE: '/dev/null', // none
      PIP_DISABLE_PIP_VERSION_CHECK: '1',
      PIP_NO_INPUT: '1',
      PIP_TRUSTED_HOST: words(of('trusted-host')).join(' '),
      PIP_DEFAULT_TIMEOUT: of('default-timeout') ?? of('timeout') ?? '',
      PIP_CERT: of('cert') ?? env.REQUESTS_CA_BUNDLE ?? env.CURL_CA_BUNDLE ?? '',
    },
  }
}

/** What the sections `global` and `install` say (configparser's form: an indented line goes on with the last). */
function parsePipConf(text: string): [key: string, value: string][] {
  const settings: [string, string][] = []
  let reads = false
  for (const line of text.split(/\r?\n/)) {
    const section = /^\[(.*)\]/.exec(line)?.[1]
    const [, key, value] = /^([^\s#;:=][^:=]*?)\s*[:=]\s*(.*)$/.exec(line) ?? []
    const last = settings.at(-1)
    if (section !== undefined) reads = section === 'global' || section === 'install'
    else if (!reads || /^\s*[#;]/.test(line)) continue
    else if (key !== undefined) settings.push([key.replaceAll('_', '-').toLowerCase(), value?.trim() ?? ''])
    else if (last && /^\s+\S/.test(line)) last[1] = `${last[1]} ${line.trim()}`.trim()
  }
  return settings
}

/** How uv logs in to indexes that have names, and reaches them. */
function uvVariables(env: Env): Record<string, string> {
  const passes = /^UV_(?:INDEX_\w+_(?:USERNAME|PASSWORD)|INSECURE_HOST|NATIVE_TLS|SYSTEM_CERTS|HTTP_TIMEOUT)$/
  return pickVariables(env, name => passes.test(name))
}

async function readUv(env: Env): Promise<Indexes> {
  let found: Indexes = { more: [] }
  for (const path of ['/etc/uv/uv.toml', join(configFolder(env), 'uv', 'uv.toml')]) {
    const text = await readFileIfThere(path).catch(() => undefined)
    const { main = found.main, more } = parseUvToml(text ?? '')
    found = { main, more: [...more, ...found.more] }
  }
  const more = [...words(env.UV_INDEX), ...words(env.UV_EXTRA_INDEX_URL)]
  return { main: env.UV_DEFAULT_INDEX || env.UV_INDEX_URL || found.main, more: [...more, ...found.more] }
}

function parseUvToml(text: string): Indexes {
  let document: Record<string, unknown>
  try {
    document = parse(text)
  } catch {
    return { more: [] } // uv would not take it either
  }
  const list = (key: string) => (Array.isArray(document[key]) ? (document[key] as unknown[]) : [])
  const tables = list('index') as { name?: unknown; url?: unknown; default?: unknown }[]
  const spelled = tables.map(({ name, url }) => (typeof name === 'string' ? `${name}=${url}` : String(url)))
  const old = document['index-url']
  const main = spelled.find((_, index) => tables[index]?.default === true)
  return {
    main: main ?? (typeof old === 'string' ? old : undefined),
    more: [...spelled.filter(index => index !== main), ...list('extra-index-url').map(String)],
  }
}
