import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject } from '../../src/lib/is-object.ts'
import { withoutKeelsonSecrets } from '../../src/lib/keelson-secrets.ts'
import { pickVariables } from '../../src/lib/pick-variables.ts'
import { runTool } from '../../src/lib/run-tool.ts'
import { registryName } from './location.ts'

/** What a registry, or its token service, accepts as proof of identity. */
export type Credentials =
  | { readonly kind: 'password'; readonly username: string; readonly password: string }
  /** A refresh token of the token service ("identity token" in docker's words). */
  | { readonly kind: 'identity'; readonly token: string }
  /** A bearer token, used as it is. */
  | { readonly kind: 'bearer'; readonly token: string }

export interface FoundCredentials {
  readonly credentials?: Credentials
  /** The file they come from. */
  readonly source?: string
  /** Files and helpers that could not be asked, in sentences for people. */
  readonly problems: readonly string[]
}

export type FindCredentials = (
  registry: string,
  repository: string,
  signal?: AbortSignal,
) => Promise<FoundCredentials>

type Env = Readonly<Record<string, string | undefined>>

/** The credential files of podman and docker, in the order in which they are asked (containers-auth.json(5)). */
export function credentialFiles(env: Env, home: string): string[] {
  if (env.REGISTRY_AUTH_FILE) return [env.REGISTRY_AUTH_FILE]
  const config = env.XDG_CONFIG_HOME || join(home, '.config')
  return [
    ...(env.XDG_RUNTIME_DIR ? [join(env.XDG_RUNTIME_DIR, 'containers', 'auth.json')] : []),
    join(config, 'containers', 'auth.json'),
    join(env.DOCKER_CONFIG || join(home, '.docker'), 'config.json'),
  ]
}

/**
 * Looks credentials up where `docker login` and `podman login` leave them. A file that cannot be read, or a
 * helper that is not there, does not end the search: the others are asked, and the problem is reported only
 * when access is refused.
 */
export function createCredentialFinder({ env, home }: { env: Env; home: string }): FindCredentials {
  return async (registry, repository, signal) => {
    const problems: string[] = []
    for (const path of credentialFiles(env, home)) {
      const file = await readCredentialFile(path, problems)
      if (!file) continue
      const helper = helperOf(file, registry)
      const credentials =
        (helper ? await askHelper(helper, registry, env, problems, signal) : undefined) ??
        inlineCredentials(file, registry, repository)
      if (credentials) return { credentials, source: path, problems }
    }
    return { problems }
  }
}

interface CredentialFile {
  auths?: unknown
  credHelpers?: unknown
  credsStore?: unknown
}

async function readCredentialFile(path: string, problems: string[]): Promise<CredentialFile | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code !== 'ENOENT' && code !== 'ENOTDIR') problems.push(`${path} cannot be read (${code}).`)
    return undefined
  }
  if (text.trim() === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // The parser's message quotes the text, which holds secrets.
  }
  problems.push(`${path} is not a credential file: it is not a JSON object.`)
  return undefined
}

/** The registry that a key of `auths` or `credHelpers` speaks of: docker writes URLs, podman hosts and namespaces. */
function keyOf(text: string): string {
  const path = text
    .replace(/^https?:\/\//i, '')
    .replace(/\/+$/, '')
    .replace(/\/v[12]$/, '')
  const [host = '', ...rest] = path.split('/')
  return [registryName(host), ...rest].join('/')
}

function entryOf(table: unknown, key: string): unknown {
  if (!isObject(table)) return undefined
  return Object.entries(table).find(([name]) => keyOf(name) === key)?.[1]
}

function helperOf({ credHelpers, credsStore }: CredentialFile, registry: string): string | undefined {
  const name = entryOf(credHelpers, registry) ?? credsStore
  return typeof name === 'string' && name ? name : undefined
}

/** Runs `docker-credential-NAME get`: the registry on standard input, JSON on standard output. */
async function askHelper(
  name: string,
  registry: string,
  env: Env,
  problems: string[],
  signal?: AbortSignal,
): Promise<Credentials | undefined> {
  const program = `docker-credential-${name}`
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) {
    problems.push('A credential file names a helper that is not the name of a program.')
    return undefined
  }
  const result = await runTool([program, 'get'], {
    input: registry === 'docker.io' ? 'https://index.docker.io/v1/' : registry,
    env: pickVariables(withoutKeelsonSecrets(env), () => true),
    timeoutMs: 60_000,
    signal,
  })
  if (result.status === 'missing') {
    problems.push(`The credential helper ${program} is not installed.`)
    return undefined
  }
  if (result.status === 'failed') {
    // Its output is not repeated: it may hold the credentials.
    if (!/credentials not found/i.test(result.stdout + result.stderr)) {
      problems.push(`The credential helper ${program} failed.`)
    }
    return undefined
  }
  try {
    const { Username, Secret } = JSON.parse(result.stdout) as { Username?: unknown; Secret?: unknown }
    if (typeof Secret === 'string' && Secret) return fromPair(String(Username ?? ''), Secret)
  } catch {
    problems.push(`The credential helper ${program} does not print JSON.`)
  }
  return undefined
}

const fromPair = (username: string, secret: string): Credentials =>
  username === '<token>'
    ? { kind: 'identity', token: secret }
    : { kind: 'password', username, password: secret }

/** What a file itself holds: podman's keys may reach down to a repository, the longest that fits wins. */
function inlineCredentials(
  { auths }: CredentialFile,
  registry: string,
  repository: string,
): Credentials | undefined {
  const parts = repository.split('/')
  for (let length = parts.length; length >= 0; length--) {
    const entry = entryOf(auths, [registry, ...parts.slice(0, length)].join('/'))
    const found = isObject(entry) ? fromEntry(entry) : undefined
    if (found) return found
  }
  return undefined
}

function fromEntry(entry: Record<string, unknown>): Credentials | undefined {
  const text = (name: string) => {
    const value = entry[name]
    return typeof value === 'string' && value ? value : undefined
  }
  const identity = text('identitytoken')
  if (identity) return { kind: 'identity', token: identity }
  const bearer = text('registrytoken')
  if (bearer) return { kind: 'bearer', token: bearer }
  const pair = Buffer.from(text('auth') ?? '', 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  const username = colon > 0 ? pair.slice(0, colon) : text('username')
  const password = colon > 0 ? pair.slice(colon + 1).replace(/\0+$/, '') : text('password')
  return username && password ? { kind: 'password', username, password } : undefined
}
