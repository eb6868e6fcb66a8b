import { createHash } from 'node:crypto'
import * as t from 'typanion'
import type { Scheme } from '../../../src/contracts/runtime.ts'
import { type PackageReference, parsePackageReference } from '../../../src/lib/package-reference.ts'

/** A package on disk, ready to run. */
export interface InstalledPackage {
  /** Everything of it lies in here; the instance may read it. */
  readonly folder: string
  /** Absolute. */
  readonly command: readonly string[]
  /** Folders outside that it needs to run, e.g. its Python. */
  readonly needs: readonly string[]
}

/** What an installer leaves beside the package (`keelson.json`), paths relative to the folder. */
export interface PackageRecord {
  image: string
  name: string
  version: string
  installed_at: string
  /** The running Node and its options; absent when the program runs by itself. */
  node?: string[]
  command: string[]
  needs: string[]
}

export const packageRecordSchema = t.isObject(
  {
    image: t.isString(),
    name: t.isString(),
    version: t.isString(),
    installed_at: t.isString(),
    node: t.isOptional(t.isArray(t.isString())),
    command: t.isArray(t.isString()),
    needs: t.isArray(t.isString()),
  },
  { extra: t.isUnknown() },
)

/** A package at one version; for local code the path and what it was built to. */
export interface PinnedPackage {
  readonly scheme: Scheme
  readonly name: string
  readonly extras: readonly string[]
  readonly version: string
  readonly buildWith: readonly string[]
  readonly local: boolean
}

/** Spells it as an image reference: `npx://name@1.2.3`; everything needed to install it again is in it. */
export function toImage({ scheme, name, extras, version, buildWith }: PinnedPackage): string {
  const extra = extras.length > 0 ? `[${extras.join(',')}]` : ''
  const query = buildWith.map(requirement => `with=${encodeURIComponent(requirement)}`).join('&')
  return `${scheme}://${name}${extra}@${version}${query ? `?${query}` : ''}`
}

/** Reads what `toImage` wrote; undefined for anything else. */
export function parseImage(image: string): PinnedPackage | undefined {
  const [, scheme, rest = '', query] = /^(npx|uvx|go):\/\/([^?]+)(?:\?(.*))?$/.exec(image) ?? []
  if (scheme !== 'npx' && scheme !== 'uvx' && scheme !== 'go') return undefined
  const buildWith = new URLSearchParams(query?.replaceAll('+', '%2B')).getAll('with')
  if (rest.startsWith('/')) {
    const at = rest.lastIndexOf('@')
    return {
      scheme,
      name: rest.slice(0, at),
      version: rest.slice(at + 1),
      extras: [],
      buildWith,
      local: true,
    }
  }
  const reference: PackageReference | undefined = parsePackageReference(scheme, rest)
  if (!reference?.wanted) return undefined
  const { name, extras, wanted } = reference
  return { scheme, name, extras, version: wanted, buildWith, local: false }
}

/** The folder name of an installed package. Native parts depend on the platform and the Node line. */
export function folderName(image: string): string {
  const key = [image, process.platform, process.arch, process.versions.modules].join('\n')
  return createHash('sha256').update(key).digest('hex').slice(0, 32)
}
