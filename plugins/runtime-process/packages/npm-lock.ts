import * as t from 'typanion'
import { PUBLIC_NPM } from '../../../src/lib/public-registries.ts'
import { parseDocument } from '../../../src/parse-document.ts'

const dependencies = t.isOptional(t.isRecord(t.isString()))
const lockfile = t.isObject(
  {
    packages: t.isRecord(
      t.isObject(
        {
          resolved: t.isOptional(t.isString()),
          link: t.isOptional(t.isBoolean()),
          inBundle: t.isOptional(t.isBoolean()),
          hasInstallScript: t.isOptional(t.isBoolean()),
          dependencies,
          optionalDependencies: dependencies,
        },
        { extra: t.isUnknown() },
      ),
    ),
  },
  { extra: t.isUnknown() },
)

/** What npm has resolved, by the place of each package: `node_modules/a/node_modules/b`. */
export type NpmLock = t.InferType<typeof lockfile>['packages']

/** Reads the text of a `package-lock.json` of npm 7 or later. Fails with `invalid_file`. */
export const parseNpmLock = (text: string, path: string): NpmLock =>
  parseDocument(text, path, lockfile).packages

/** In a lock it stands for the configured registry. */
const NPMJS = new URL(PUBLIC_NPM).origin
const PLACE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+$/

/**
 * Says why a lock file must not be installed; undefined when every package comes from one of the registries, or is
 * bundled in a package that does.
 *
 * @param archive a file beside the lock that is allowed as well: the package to install
 */
export function lockProblem(
  packages: NpmLock,
  { registries, archive }: { registries: readonly string[]; archive?: string | undefined },
): string | undefined {
  const origins = new Set([NPMJS, ...registries.map(registry => new URL(registry).origin)])
  const own = archive === undefined ? undefined : `file:${archive}`
  for (const [place, entry] of Object.entries(packages)) {
    const who = nameOf(place)
    for (const [name, wanted] of Object.entries({ ...entry.dependencies, ...entry.optionalDependencies })) {
      if (!isVersion(wanted) && !(place === '' && wanted === own)) {
        return `${who} needs ${name} as "${wanted}"; only packages from the registry are installed.`
      }
    }
    if (place === '') continue
    if (entry.link || !PLACE.test(place) || place.split('/').includes('..')) {
      return `${who} is a link; only packages from the registry are installed.`
    }
    if (entry.resolved === undefined ? !entry.inBundle : !isFrom(entry.resolved, origins, own)) {
      return `${who} comes from ${entry.resolved ?? 'nowhere'}, which is not a registry that npm is set up with.`
    }
  }
  return undefined
}

/** Names of packages with install scripts. */
export const withScripts = (packages: NpmLock): string[] =>
  Object.entries(packages).flatMap(([place, entry]) => (entry.hasInstallScript ? [nameOf(place)] : []))

const nameOf = (place: string): string => place.replace(/^.*node_modules\//, '') || 'the package'

const isFrom = (resolved: string, origins: ReadonlySet<string>, own: string | undefined): boolean =>
  resolved === own ||
  (/^https?:/.test(resolved) && URL.canParse(resolved) && origins.has(new URL(resolved).origin))

/** Whether this is a range or tag, also of an aliased package, and not an address, path or repository (npm-package-arg). */
export function isVersion(wanted: string): boolean {
  const range = /^npm:(?:@[\w.~-]+\/)?[\w.~-]+(?:@(.*))?$/.exec(wanted)
  const text = range ? (range[1] ?? '') : wanted
  return !/[/\\:]/.test(text) && !/^\./.test(text) && !/\.(?:tgz|tar|tar\.gz)$/i.test(text)
}
