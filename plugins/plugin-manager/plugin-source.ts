import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { failures } from './failures.ts'

/** What a user may name to add a plugin. */
export type PluginSource =
  | { readonly kind: 'package'; readonly spec: string }
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'archive'; readonly path: string }

/**
 * A package of the registry, optionally with a version, range or tag. Git and web addresses are not
 * among them: npm may run a package's own build scripts for those even when told not to.
 */
const SPEC = /^(@[a-z0-9][\w.~-]*\/)?[a-z0-9][\w.~-]*(@[\w.~^<>=*| +-]+)?$/i

/** Parses what the user typed. Anything but a package name is a path. Fails with `plugin_source`. */
export async function parsePluginSource(text: string, folder: string): Promise<PluginSource> {
  const archive = /\.(tgz|tar\.gz)$/.test(text)
  if (SPEC.test(text) && !archive) return { kind: 'package', spec: text }
  const path = resolve(folder, text)
  const wrong = (problem: string) => failures.plugin_source({ source: text, problem })
  if (/^[a-z+]+:\/\/|^(git|github|npm|file):/i.test(text)) throw wrong('addresses are not taken.')
  const found = await stat(path).catch(() => undefined)
  if (!found) throw wrong(`${path} does not exist.`)
  if (found.isDirectory()) return { kind: 'folder', path }
  if (found.isFile() && archive) return { kind: 'archive', path }
  throw wrong(`${path} is neither a folder nor a .tgz file.`)
}

/** How a source is kept, so that it means the same from another folder. */
export const sourceText = (source: PluginSource): string =>
  source.kind === 'package' ? source.spec : source.path
