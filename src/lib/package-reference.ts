/** A package of npm, PyPI or Go as a user names it after `npx://`, `uvx://` or `go://`. */
export interface PackageReference {
  readonly scheme: 'npx' | 'uvx' | 'go'
  readonly name: string
  /** PEP 508 extras, without brackets; only for `uvx`. */
  readonly extras: readonly string[]
  /** What follows the name: a version, a range, a tag. Absent: the newest. */
  readonly wanted?: string
}

const NPM_NAME = /^(?:@[a-z0-9][a-z0-9._~-]*\/)?[a-z0-9][a-z0-9._~-]*$/i
const NPM_WANTED = /^[\^~]?[A-Za-z0-9][A-Za-z0-9.+_-]*$/
const PYPI = '[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?'
const PYPI_NAME = new RegExp(`^(${PYPI})(?:\\[(${PYPI}(?:,${PYPI})*)\\])?$`)
const PYPI_WANTED = /^[A-Za-z0-9][A-Za-z0-9.!+_-]*$/
const GO_PATH = /^[A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)+(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~+-]*)+$/
const GO_WANTED = /^[A-Za-z0-9][A-Za-z0-9.+_-]*$/

/** How each ecosystem spells a package, for messages. */
export const PACKAGE_FORM = {
  npx: '`name` or `@scope/name`, then `@version` if you like',
  uvx: '`name` or `name[extra]`, then `@version` or `==version` if you like',
  go: '`host/path`, then `@version` if you like',
} as const

/**
 * Reads a package name; undefined when the text is not one. Strict on purpose: what passes holds no blank,
 * quote, shell or option character, so it can be an argument of a tool and a line of a Dockerfile.
 */
export function parsePackageReference(
  scheme: PackageReference['scheme'],
  text: string,
): PackageReference | undefined {
  if (text.length > 500) return undefined
  if (scheme === 'uvx') return parsePypi(text)
  const at = text.indexOf('@', 1)
  const name = at < 0 ? text : text.slice(0, at)
  const wanted = at < 0 ? undefined : text.slice(at + 1)
  const [names, versions] = scheme === 'npx' ? [NPM_NAME, NPM_WANTED] : [GO_PATH, GO_WANTED]
  if (!names.test(name) || name.includes('..')) return undefined
  if (wanted !== undefined && !versions.test(wanted)) return undefined
  return { scheme, name, extras: [], ...(isNewest(wanted) ? {} : { wanted }) }
}

function parsePypi(text: string): PackageReference | undefined {
  const [, left = '', wanted] = /^([^@=]+)(?:(?:@|==)(.*))?$/.exec(text) ?? []
  const [, name, extras] = PYPI_NAME.exec(left) ?? []
  if (!name || (wanted !== undefined && !PYPI_WANTED.test(wanted))) return undefined
  return {
    scheme: 'uvx',
    name,
    extras: extras?.split(',') ?? [],
    ...(isNewest(wanted) ? {} : { wanted }),
  }
}

const isNewest = (wanted: string | undefined): wanted is undefined | 'latest' =>
  wanted === undefined || wanted === 'latest'

const SEMVER = /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/

/** The version when the reference names exactly one; undefined when a registry has to be asked. */
export function exactVersion({ scheme, wanted }: PackageReference): string | undefined {
  if (wanted === undefined) return undefined
  if (scheme === 'uvx') return wanted // `==` in PEP 440
  return SEMVER.test(scheme === 'go' ? wanted.replace(/^v/, '') : wanted) ? wanted : undefined
}

const OPERATOR = '(?:===|==|~=|!=|<=|>=|<|>)\\s*[A-Za-z0-9][A-Za-z0-9.!+*_-]*'
const REQUIREMENT = new RegExp(
  `^${PYPI}(?:\\[${PYPI}(?:,${PYPI})*\\])?\\s*(?:${OPERATOR}(?:\\s*,\\s*${OPERATOR})*)?$`,
)

/** Whether the text is a PEP 508 requirement by name and version (no address, marker or option). */
export const isRequirement = (text: string): boolean => text.length <= 200 && REQUIREMENT.test(text)
