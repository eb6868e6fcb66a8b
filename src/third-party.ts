import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { join, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as t from 'typanion'
import { parseDocument } from './document.ts'
import { failures, messageOf } from './errors.ts'
import type { Paths } from './paths.ts'
import type { Contributions, Plugin, PluginEntry } from './plugin.ts'

/** The plugin API this host offers; plugins of this version and the one before it load. */
export const API_VERSION = 1

/** What a plugin's package.json says of itself under the key `keelson`. Read without running its code. */
export const manifestSchema = t.isObject(
  {
    apiVersion: t.cascade(t.isNumber(), [t.isInteger(), t.isAtLeast(1)]),
    /** Module with the plugin as default export, relative to the package. */
    entry: t.isString(),
    /** First words of its commands, each with a description. */
    verbs: t.isOptional(t.isRecord(t.isString())),
    services: t.isOptional(t.isArray(t.isString())),
    provides: t.isOptional(
      t.isArray(t.isEnum(['runtimes', 'targets', 'middlewares', 'flags', 'sections'] as const)),
    ),
    /** What it will do, shown before the user agrees. Disclosure, not a sandbox. */
    permissions: t.isOptional(t.isArray(t.isString())),
  },
  { extra: t.isUnknown() },
)
export type PluginManifest = t.InferType<typeof manifestSchema>

/** One added plugin, as `plugins.lock.json` keeps it. */
export interface PluginRecord {
  name: string
  version: string
  /** What the user typed: a package or a path. */
  source: string
  /** Its package inside the folder that was installed for it (`installFolder`). */
  package: string
  /** Of everything installed for it (`hashTree`). */
  integrity: string
  manifest: PluginManifest
}

const lockSchema = t.isObject({
  lockVersion: t.isLiteral(1),
  plugins: t.isArray(
    t.isObject({
      name: t.isString(),
      version: t.isString(),
      source: t.isString(),
      package: t.isString(),
      integrity: t.isString(),
      manifest: manifestSchema,
    }),
  ),
})

export const readPluginLock = (text: string, path: string): PluginRecord[] =>
  parseDocument(text, path, lockSchema).plugins as PluginRecord[]

/** Where everything that belongs to one added plugin lies. */
export const installFolder = (paths: Paths, name: string): string =>
  join(paths.data, 'plugins', name.replaceAll('/', '+'))

/** The loader's entry for an added plugin. Verbs that built-in commands have stay theirs. */
export function toEntry(record: PluginRecord, paths: Paths, takenVerbs: readonly string[]): PluginEntry {
  const { manifest } = record
  return {
    name: record.name,
    verbs: Object.keys(manifest.verbs ?? {}).filter(verb => !takenVerbs.includes(verb)),
    services: manifest.services ?? [],
    provides: (manifest.provides ?? []) as (keyof Contributions)[],
    load: () => loadThirdParty(record, installFolder(paths, record.name)),
  }
}

async function loadThirdParty(record: PluginRecord, folder: string): Promise<Plugin> {
  const broken = (problem: string, cause?: unknown) =>
    failures.plugin_broken({ plugin: record.name, problem }, { cause })
  assertApiVersion(record.name, record.manifest.apiVersion)
  const actual = await hashTree(folder).catch(error => {
    throw broken('its files are gone.', error)
  })
  if (actual !== record.integrity)
    throw broken('its files were changed after you added it. Remove it and add it again.')
  offerPluginApi()
  try {
    const module: unknown = await import(
      pathToFileURL(join(folder, record.package, record.manifest.entry)).href
    )
    const plugin = (module as { default?: unknown }).default
    if (typeof plugin !== 'object' || plugin === null || !('name' in plugin))
      throw new Error('its default export is no plugin.')
    return plugin as Plugin
  } catch (error) {
    throw broken(messageOf(error), error)
  }
}

export function assertApiVersion(plugin: string, version: number): void {
  if (version === API_VERSION || version === API_VERSION - 1) return
  const problem = `it was made for plugin API ${version}; this keelson offers ${API_VERSION}.`
  throw failures.plugin_broken({ plugin, problem })
}

/** One hash over every file below a folder: names and contents, in a fixed order. */
export async function hashTree(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => !entry.isDirectory()).map(entry => join(entry.parentPath, entry.name))
  if (files.length === 0) throw new Error(`${folder} is empty`)
  const hash = createHash('sha512')
  for (const file of files.sort()) {
    const content = await readFile(file)
    hash.update(`${relative(folder, file).split(sep).join('/')}\0${content.length}\0`).update(content)
  }
  return `sha512-${hash.digest('base64')}`
}

let offered = false

/** `import … from 'keelson/plugin'` inside an added plugin means this very program, wherever the plugin lies. */
function offerPluginApi(): void {
  if (offered) return
  offered = true
  const built = !import.meta.url.endsWith('.ts')
  const url = new URL(built ? './plugin-api.js' : './plugin-api.ts', import.meta.url).href
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'keelson/plugin' ? { url, shortCircuit: true } : next(specifier, context),
  })
}
