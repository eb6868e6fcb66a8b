import { PUBLIC_NPM, PUBLIC_PYPI } from '../../../src/lib/public-registries.ts'
import type { Package } from './server-json.ts'

const SCHEMES: Readonly<Record<string, string>> = { npm: 'npx', pypi: 'uvx', go: 'go' }
const TYPES: Readonly<Record<string, string>> = { npx: 'npm', uvx: 'pypi', go: 'go' }

/**
 * What `run` would be given for a package: an image reference, or `npx://…`, `uvx://…`, `go://…`.
 * Kinds that cannot be run are written alike (`nuget://…`), so that nothing disappears from lists.
 */
export function toImage({ registryType, identifier, version }: Package): string {
  if (registryType === 'oci') {
    const named = identifier.includes('@') || identifier.lastIndexOf(':') > identifier.lastIndexOf('/')
    return named || !version ? identifier : `${identifier}:${version}`
  }
  return `${SCHEMES[registryType] ?? registryType}://${identifier}${version ? `@${version}` : ''}`
}

/** The other way: the package that an image or `npx://…` stands for. */
export function toPackage(image: string): Pick<Package, 'registryType' | 'identifier' | 'version'> {
  const [, scheme, text = ''] = /^([a-z]+):\/\/(.+)$/s.exec(image) ?? []
  if (!scheme) return { registryType: 'oci', identifier: image }
  const at = text.lastIndexOf('@')
  const [identifier, version] = at > 0 ? [text.slice(0, at), text.slice(at + 1)] : [text, '']
  return { registryType: TYPES[scheme] ?? scheme, identifier, ...(version ? { version } : {}) }
}

/** Registries that packages are fetched from, whatever an entry says. */
const HOMES: Readonly<Record<string, string>> = { npm: PUBLIC_NPM, pypi: PUBLIC_PYPI }

/** The registry that an entry means, where that is not the one its package would be fetched from. */
export function foreignRegistry({ registryType, registryBaseUrl }: Package): string | undefined {
  const home = HOMES[registryType]
  if (!home || !registryBaseUrl) return undefined
  return URL.parse(registryBaseUrl)?.host === new URL(home).host ? undefined : registryBaseUrl
}

/** Whether a workload can be made of the package. */
export const isRunnable = ({ registryType }: Package): boolean =>
  registryType === 'oci' || Object.hasOwn(SCHEMES, registryType)

/** The package that is run when there are several: an image if there is one, else the first that can be run. */
export const choosePackage = (packages: readonly Package[] = []): Package | undefined =>
  packages.find(one => one.registryType === 'oci') ?? packages.find(isRunnable) ?? packages[0]
