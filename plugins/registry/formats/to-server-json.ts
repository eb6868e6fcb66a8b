import { toMeta } from './extension.ts'
import { isRemote, type ServerView } from './legacy.ts'
import { toPackage } from './package-image.ts'
import type { EnvVar, Extension } from './server-facts.ts'
import { type Input, SERVER_SCHEMA, type ServerJson } from './server-json.ts'
import { toFullName } from './server-names.ts'
import { compact } from './to-view.ts'

const LIMIT = 100

/**
 * A server of the older format as server.json. What server.json has no member for goes into the
 * extension under its own name, unknown members too, so that `toView` finds everything again.
 */
export function toServerJson(name: string, view: ServerView): ServerJson {
  const { name: _, title, description = '', repository_url, transport, ...rest } = view
  const type = transport ?? 'stdio'
  const { specifics, key, extra } = isRemote(view) ? remotePart(view, type) : imagePart(view, type)
  const taken = isRemote(view) ? ['url', 'headers'] : ['image', 'env_vars', 'target_port']
  const extension = compact<Extension & Record<string, unknown>>({
    ...Object.fromEntries(Object.entries(rest).filter(([member]) => !taken.includes(member))),
    ...extra,
    status: rest.status || 'active',
    ...(fits(title) ? {} : { title }),
    ...(description !== '' && fits(description) ? {} : { description }),
  })
  return compact<ServerJson>({
    $schema: SERVER_SCHEMA,
    name: toFullName(name),
    title: title === undefined ? undefined : shorten(title, name),
    description: shorten(description, title || name),
    version: '1.0.0',
    repository:
      repository_url === undefined ? undefined : { url: repository_url, source: sourceOf(repository_url) },
    ...specifics,
    _meta: toMeta(key, extension),
  })
}

function remotePart(view: Extract<ServerView, { url: string }>, type: string) {
  const headers = view.headers?.map(({ required, secret, ...header }) => ({
    ...header,
    ...compact<Partial<Input>>({ isRequired: required, isSecret: secret }),
  }))
  const remote = { type, url: view.url, ...(headers ? { headers } : {}) }
  return { specifics: { remotes: [remote] }, key: view.url, extra: {} }
}

function imagePart(view: Extract<ServerView, { image: string }>, type: string) {
  const { image, target_port, env_vars } = view
  const url = `http://localhost${target_port === undefined ? '' : `:${target_port}`}`
  const transport = type === 'stdio' ? { type } : { type, url }
  const variables = env_vars?.map(toInput)
  const chosen = { ...toPackage(image), transport, ...(variables ? { environmentVariables: variables } : {}) }
  return {
    specifics: { packages: [chosen] },
    key: image,
    extra: type === 'stdio' && target_port !== undefined ? { target_port } : {},
  }
}

const toInput = ({ required, secret, ...variable }: EnvVar): Input => ({
  ...variable,
  ...compact<Partial<Input>>({ isRequired: required, isSecret: secret }),
})

const fits = (text: string | undefined): boolean =>
  text === undefined || (text.length >= 1 && text.length <= LIMIT)

/** Within the limits of server.json; the whole text stays in the extension. */
function shorten(text: string, fallback: string): string {
  if (text === '') return fallback.slice(0, LIMIT)
  return text.length <= LIMIT ? text : `${text.slice(0, LIMIT - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** The forge that a repository URL belongs to, as server.json names it. */
export function sourceOf(url: string): string {
  const host = URL.parse(url)?.hostname ?? ''
  return /(^|\.)gitlab\./.test(host) ? 'gitlab' : /(^|\.)bitbucket\.org$/.test(host) ? 'bitbucket' : 'github'
}
