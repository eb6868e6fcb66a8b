import { parseOciReference } from '../../src/lib/oci-reference.ts'
import { parsePackageReference } from '../../src/lib/package-reference.ts'
import { type ImageServer, isRemote, type RemoteServer, type ServerView } from './formats/legacy.ts'
import { parseRegistry } from './formats/parse-registry.ts'
import type { Provenance } from './formats/server-facts.ts'
import { toView } from './formats/to-view.ts'
import { narrowPermissions } from './narrow-permissions.ts'

const SECRET_NAME =
  /(TOKEN|SECRET|PASSWORD|PASSWD|_PWD|API_KEY|PRIVATE_KEY|ACCESS_KEY)(_|$)|CONNECTION_STRING/i
const NOT_SECRET_NAME = /(^|_)(URL|URI|TYPE|FILE|PATH)$/i

/**
 * What is inconsistent in a registry file, one line each: limits of the published schemas, names used
 * twice, references that cannot be run, secrets not marked as such, permissions left open by omission.
 */
export function catalogueProblems(text: string, place: string): string[] {
  const { document, problems } = parseRegistry(text, place, 'full')
  const names = document.servers.map(server => server.name)
  const skills = document.skills.map(skill => `${skill.namespace}/${skill.name}`)
  return [
    ...problems,
    ...duplicates(names).map(name => `${name}: listed twice`),
    ...duplicates(names.map(name => name.slice(name.indexOf('/') + 1))).map(
      name => `${name}: two servers can be run by this name`,
    ),
    ...duplicates(skills).map(name => `skill ${name}: listed twice`),
    ...document.servers.flatMap(server =>
      serverProblems(toView(server)).map(line => `${server.name}: ${line}`),
    ),
    ...document.skills
      .filter(skill => !skill.packages?.length)
      .map(skill => `skill ${skill.name}: it has no package`),
  ]
}

const duplicates = (items: readonly string[]): string[] => [
  ...new Set(items.filter((item, i) => items.indexOf(item) !== i)),
]

const serverProblems = (view: ServerView): string[] => [
  ...(isRemote(view) ? remoteProblems(view) : imageProblems(view)),
  ...variableProblems(view),
  ...(view.tier ? [] : ['no tier']),
  ...(view.repository_url === undefined || /^https:\/\//.test(view.repository_url)
    ? []
    : ['repository_url is not an https URL']),
  ...duplicates(view.tools ?? []).map(tool => `the tool ${tool} is listed twice`),
  ...duplicates(view.tags ?? []).map(tag => `the tag ${tag} is listed twice`),
]

function imageProblems(view: ImageServer): string[] {
  const problems: string[] = []
  const [, scheme, reference = ''] = /^([a-z]+):\/\/(.+)$/s.exec(view.image) ?? []
  if (scheme === 'npx' || scheme === 'uvx' || scheme === 'go') {
    const parsed = parsePackageReference(scheme, reference)
    if (!parsed) problems.push(`"${view.image}" is not a package reference`)
    else if (!parsed.wanted) problems.push(`"${view.image}" names no version`)
    if (view.transport !== 'stdio') problems.push('a package speaks stdio')
  } else {
    const parsed = parseOciReference(view.image)
    if (!parsed) problems.push(`"${view.image}" is not an image reference`)
    else if (!parsed.tag && !parsed.digest) problems.push(`"${view.image}" names neither tag nor digest`)
  }
  if (view.transport === 'stdio' && view.target_port) problems.push('a port, but stdio')
  if (view.transport !== 'stdio' && !view.target_port) problems.push(`${view.transport}, but no target_port`)
  const outbound = view.permissions?.network?.outbound
  if (!outbound) problems.push('permissions do not mention the network')
  if (outbound?.insecure_allow_all && outbound.allow_host?.length)
    problems.push('everything is allowed, and hosts are listed')
  if (view.permissions) problems.push(...narrowPermissions(view.permissions).problems)
  if (view.provenance && scheme) problems.push('provenance, but no image that somebody could have signed')
  return [...problems, ...provenanceProblems(view.provenance)]
}

/** What could never be compared with a certificate, or would be true of anybody's. */
function provenanceProblems(provenance: Provenance | undefined): string[] {
  if (!provenance) return []
  const { repository_uri: repository, signer_identity: signer, cert_issuer: issuer } = provenance
  const { runner_environment: runner, sigstore_url: sigstore } = provenance
  const rules: readonly [isWrong: boolean, problem: string][] = [
    [!repository && !signer, 'names neither repository_uri nor signer_identity'],
    [Boolean(repository && !isHttps(repository)), 'repository_uri is not an https URL'],
    [/(\/|\.git)$/.test(repository ?? ''), 'repository_uri ends as no certificate says it'],
    [Boolean(signer?.startsWith('/') && !repository), 'a path as signer_identity needs a repository_uri'],
    [
      Boolean(signer && !/^(\/\S+|https:\/\/\S+|[^\s@/]+@[^\s@/]+)$/.test(signer)),
      'signer_identity is not a path, URL or e-mail address',
    ],
    [!issuer || !isHttps(issuer), 'cert_issuer is not an https URL'],
    [
      Boolean(runner) && runner !== 'github-hosted' && runner !== 'self-hosted',
      'runner_environment is neither github-hosted nor self-hosted',
    ],
    [
      Boolean(sigstore && !SIGSTORES.includes(sigstore)),
      `sigstore_url is not one of ${SIGSTORES.join(', ')}`,
    ],
  ]
  return rules.filter(([isWrong]) => isWrong).map(([, problem]) => `provenance: ${problem}`)
}

const SIGSTORES = ['tuf-repo-cdn.sigstore.dev', 'tuf-repo.github.com']

const isHttps = (text: string): boolean => URL.parse(text)?.protocol === 'https:'

function remoteProblems(view: RemoteServer): string[] {
  const url = URL.parse(view.url)
  return url?.protocol === 'https:' ? [] : [`"${view.url}" is not an https URL`]
}

const variableProblems = ({ env_vars = [] }: ServerView): string[] => [
  ...duplicates(env_vars.map(({ name }) => name)).map(name => `${name} is listed twice`),
  ...env_vars.flatMap(({ name, secret, default: fallback, description }) => [
    ...(!secret && SECRET_NAME.test(name) && !NOT_SECRET_NAME.test(name)
      ? [`${name} is not marked as a secret`]
      : []),
    ...(secret && fallback ? [`the secret ${name} has a default`] : []),
    ...(description ? [] : [`${name} has no description`]),
  ]),
]
