import { resolve } from 'node:path'
import type { PackageRequest } from '../../src/contracts/runtime.ts'
import { parsePackageReference } from '../../src/lib/package-reference.ts'

const FORM = /^(npx|uvx|go):\/\/(.+)$/s

/** Reads `npx://…`, `uvx://…`, `go://…` or a local Go path behind `go://`; undefined for anything else. */
export function parsePackageArgument(
  text: string,
  { cwd, buildWith }: { cwd: string; buildWith: readonly string[] },
): PackageRequest | undefined {
  const [, scheme, name = ''] = FORM.exec(text) ?? []
  if (scheme !== 'npx' && scheme !== 'uvx' && scheme !== 'go') return undefined
  const local = scheme === 'go' && /^(?:\/|\.{1,2}(?:\/|$))/.test(name)
  return { scheme, package: local ? resolve(cwd, name) : name, local, buildWith }
}

/** The same package, with the version that was found, so that an export runs the same again. */
export function atVersion(request: PackageRequest, version: string): PackageRequest {
  const { scheme, local } = request
  const reference = local ? undefined : parsePackageReference(scheme, request.package)
  if (!reference || version === 'latest') return request
  const extras = reference.extras.length ? `[${reference.extras.join(',')}]` : ''
  return { ...request, package: `${reference.name}${extras}@${version}` }
}
