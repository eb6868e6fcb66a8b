import { resolve } from 'node:path'
import type { PackageRequest } from '../../src/contracts/runtime.ts'

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
