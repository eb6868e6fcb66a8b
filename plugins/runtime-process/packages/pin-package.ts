import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { PackageRequest, WaitOptions } from '../../../src/contracts/runtime.ts'
import { failures as core } from '../../../src/errors.ts'
import { exactVersion, isRequirement, parsePackageReference } from '../../../src/lib/package-reference.ts'
import { failures } from '../failures.ts'
import { type PinnedPackage, toImage } from './installed-package.ts'
import { readRecord } from './package-folder.ts'
import type { PackageTools } from './package-tools.ts'

/**
 * Finds the exact version to install: the one that is written, else the newest; while nobody can be asked, the one
 * that was installed last below `folder`.
 */
export async function pinPackage(
  request: PackageRequest,
  { folder, newestVersion }: { folder: string } & Pick<PackageTools, 'newestVersion'>,
  options: WaitOptions,
): Promise<PinnedPackage> {
  const { scheme, buildWith } = request
  const reference = parsePackageReference(scheme, request.package)
  if (!reference) throw failures.process_package_invalid({ scheme, package: request.package })
  assertBuildWith(request)
  const { name, extras } = reference
  const whole = (version: string): PinnedPackage => ({
    scheme,
    name,
    extras,
    version,
    buildWith,
    local: false,
  })
  const exact = exactVersion(reference)
  if (exact) return whole(exact)
  options.report?.(`Asking for the newest version of ${name}`)
  const found = await newestVersion(reference, { signal: options.signal })
  if (found.kind === 'found') return whole(found.version)
  const label = `${scheme}://${request.package}`
  if (found.kind === 'unfit') throw failures.process_package_unfit({ package: label, problem: found.problem })
  if (found.kind === 'absent')
    throw failures.process_package_absent({ package: label, problem: found.problem })
  const cached = reference.wanted === undefined ? await newestInstalled(folder, whole('*')) : undefined
  if (!cached) throw failures.process_package_unresolved({ package: label, problem: found.problem })
  options.report?.(
    `warning: no newer version could be asked for (${found.problem}); running ${name} ${cached}`,
  )
  return whole(cached)
}

/** The version of this package that was installed last. */
async function newestInstalled(folder: string, pinned: PinnedPackage): Promise<string | undefined> {
  const parent = join(folder, pinned.scheme)
  const names = (await readdir(parent).catch(() => [])).filter(name => /^[0-9a-f]+$/.test(name))
  const records = await Promise.all(names.map(name => readRecord(join(parent, name))))
  return records
    .filter(record => record && record.image === toImage({ ...pinned, version: record.version }))
    .sort((a, b) => (a && b ? b.installed_at.localeCompare(a.installed_at) : 0))[0]?.version
}

/** Fails with `usage` for `--build-with` that cannot be. */
export function assertBuildWith({ scheme, buildWith }: PackageRequest): void {
  if (buildWith.length > 0 && scheme !== 'uvx') {
    throw core.usage({ text: `--build-with is for uvx:// packages, not for ${scheme}://.` })
  }
  const wrong = buildWith.find(text => !isRequirement(text))
  if (wrong !== undefined) {
    throw core.usage({ text: `--build-with takes a requirement such as "mcp<2", not "${wrong}".` })
  }
}
