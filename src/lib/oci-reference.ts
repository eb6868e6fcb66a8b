/** The parts of an image reference (OCI distribution specification, "Pulling manifests"; docker's short forms). */
export interface OciReference {
  /** Host of the registry, with port; undefined: the engine's default. */
  readonly registry: string | undefined
  readonly repository: string
  readonly tag: string | undefined
  readonly digest: string | undefined
}

const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const REPOSITORY = new RegExp(`^${COMPONENT}(?:/${COMPONENT})*$`)
const REGISTRY =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9a-fA-F:]+\])(?::\d{1,5})?$/
const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/
const DIGEST = /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-fA-F]{32,}$/

/** Reads an image reference; undefined when the text is not one. */
export function parseOciReference(text: string): OciReference | undefined {
  const [head = '', digest, ...more] = text.split('@')
  if (more.length || (digest !== undefined && !DIGEST.test(digest))) return undefined
  const slash = head.indexOf('/')
  const first = head.slice(0, Math.max(slash, 0))
  const isHost = slash > 0 && (/[.:]/.test(first) || first === 'localhost')
  const rest = isHost ? head.slice(slash + 1) : head
  const colon = rest.lastIndexOf(':')
  const hasTag = colon > rest.lastIndexOf('/')
  const repository = hasTag ? rest.slice(0, colon) : rest
  const tag = hasTag ? rest.slice(colon + 1) : undefined
  if (!REPOSITORY.test(repository) || repository.length > 255) return undefined
  if (isHost && !REGISTRY.test(first)) return undefined
  if (tag !== undefined && !TAG.test(tag)) return undefined
  return { registry: isHost ? first : undefined, repository, tag, digest }
}
