import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { readFileIfThere } from './atomic-file.ts'
import { PUBLIC_NPM } from './public-registries.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The part of npm's configuration that says where packages come from. */
export interface NpmSettings {
  /** Addresses of the registries: the default one, then those of scopes. */
  readonly registries: readonly string[]
  /** An npmrc of these registries, the logins for them and what reaching them takes; nothing else. */
  readonly npmrc: string
  /** Files that it names: certificates and their keys. */
  readonly files: readonly string[]
  /** Whether a proxy of the user's own leads there. */
  readonly proxied: boolean
}

const REGISTRY = /^(?:@[^:]+:)?registry$/
const LOGIN = /^(\/\/.+):(?:_authToken|_auth|username|_password|email|certfile|keyfile)$/
const PROXY = /^(?:https?-)?proxy$/
const REACH =
  /^(?:ca(?:\[\])?|cafile|strict-ssl|noproxy|fetch-(?:retries|timeout|retry-\w+)|before|min-release-age|replace-registry-host)$/
const FILE = /^(?:cafile|.+:(?:certfile|keyfile))$/

type Setting = readonly [key: string, value: string]

/**
 * Reads the npmrc files of the machine and of the user, and `npm_config_*`, as npm does. An npmrc in
 * the folder where npm works is never read: packages are not asked where packages come from.
 */
export async function readNpmSettings(env: Env): Promise<NpmSettings> {
  const own = fromEnvironment(env)
  const named = (key: string) => own.find(([name]) => name === key)?.[1]
  const files = [
    named('globalconfig') ?? join(dirname(dirname(process.execPath)), 'etc', 'npmrc'),
    named('userconfig') ?? join(env.HOME || homedir(), '.npmrc'),
  ]
  const texts = await Promise.all(files.map(path => readFileIfThere(path).catch(() => undefined)))
  const all = [...texts.flatMap(text => parseNpmrc(text ?? '', env)), ...own]
  const registries = registriesOf(all)
  const kept = all.filter(([key]) => {
    const place = LOGIN.exec(key)?.[1]
    if (place !== undefined) return registries.some(registry => isBelow(place, registry))
    return REGISTRY.test(key) || REACH.test(key) || PROXY.test(key)
  })
  return {
    registries,
    npmrc: kept.map(([key, value]) => `${key}=${JSON.stringify(value)}\n`).join(''),
    files: kept.flatMap(([key, value]) => (FILE.test(key) && value ? [value] : [])),
    proxied: kept.some(([key, value]) => PROXY.test(key) && value !== '' && value !== 'null'),
  }
}

/** Addresses of the registries that the text of an npmrc names. */
export const npmRegistriesIn = (npmrc: string, env: Env): string[] => registriesOf(parseNpmrc(npmrc, env))

function registriesOf(settings: readonly Setting[]): string[] {
  const last = new Map(settings.filter(([key]) => REGISTRY.test(key)))
  return [...new Set([last.get('registry') ?? PUBLIC_NPM, ...last.values()])].filter(isWebAddress)
}

/** The variables that make npm read this npmrc and no other. */
export const npmrcEnvironment = (npmrc: string): Record<string, string> => ({
  npm_config_userconfig: npmrc,
  npm_config_globalconfig: `${npmrc}.global`,
})

/** Whether a login (`//host/path/`) is for a registry. */
const isBelow = (place: string, registry: string): boolean =>
  registry.replace(/^https?:/, '').startsWith(place.replace(/\/?$/, '')) ||
  place.startsWith(registry.replace(/^https?:/, '').replace(/\/?$/, ''))

const isWebAddress = (text: string): boolean => /^https?:\/\//.test(text) && URL.canParse(text)

/** `npm_config_strict_ssl` is `strict-ssl`; keys with an address keep their spelling. */
function fromEnvironment(env: Env): Setting[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const key = /^npm_config_(.+)$/i.exec(name)?.[1]
    if (key === undefined || !value) return []
    const isAddress = key.startsWith('//') || key.startsWith('@')
    return [[isAddress ? key : key.toLowerCase().replace(/(?!^)_/g, '-'), value] as const]
  })
}

/** The lines of an npmrc, with `${VARIABLE}` as the environment has it; one that it lacks stays as written. */
function parseNpmrc(text: string, env: Env): Setting[] {
  return text.split(/\r?\n/).flatMap(line => {
    const [, key, value] = /^\s*([^;#=\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (key === undefined || value === undefined) return []
    const plain = /^(["']).*\1$/.test(value) ? value.slice(1, -1) : value.replace(/\s+[;#].*$/, '')
    const expand = (whole: string, name: string, mark: string) => env[name] ?? (mark ? '' : whole)
    return [[key.replace(/\$\{([^}?]+)(\?)?\}/g, expand), plain.replace(/\$\{([^}?]+)(\?)?\}/g, expand)]]
  })
}
