import { createHash } from 'node:crypto'
import { registerHooks } from 'node:module'
import { isAbsolute, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as t from 'typanion'
import { API_VERSION } from './api-version.ts'
import { failures, isFailure, messageOf } from './errors.ts'
import { hashTree } from './lib/hash-tree.ts'
import { parseDocument } from './parse-document.ts'
import type { Paths } from './paths.ts'
import type { Contributions, Plugin, PluginEntry } from './plugin.ts'

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
      t.isArray(
        t.isEnum([
          'runtimes',
          'targets',
          'middlewares',
          'flags',
          'sections',
          'secretsProviders',
          'tunnels',
          'hooks',
        ] as const),
      ),
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
  /** What the user typed: a package, or the absolute form of a path. */
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

/** Reads the text of `plugins.lock.json`. Fails with `invalid_file`. */
export const readPluginLock = (text: string, path: string): PluginRecord[] =>
  parseDocument(text, path, lockSchema).plugins as PluginRecord[]

/** The text of `plugins.lock.json`. */
export const writePluginLock = (plugins: readonly PluginRecord[]): string =>
  `${JSON.stringify({ lockVersion: 1, plugins }, null, 2)}\n`

/** The folder below which every added plugin and the lock file lie. */
export const pluginsFolder = (paths: Paths): string => join(paths.data, 'plugins')

/**
 * Where everything that belongs to one added plugin lies.
 *
 * The name holds a hash of the content, so that a new version never takes the place of an old one:
 * what counts is which of them the lock file names, and that changes in one step.
 */
export function installFolder(paths: Paths, record: Pick<PluginRecord, 'name' | 'integrity'>): string {
  const content = createHash('sha256').update(record.integrity).digest('hex').slice(0, 16)
  return join(pluginsFolder(paths), `${record.name.replaceAll('/', '+')}@${content}`)
}

/** The loader's entry for an added plugin. Verbs that built-in commands have stay theirs. */
export function toEntry(record: PluginRecord, paths: Paths, takenVerbs: readonly string[]): PluginEntry {
  const { manifest } = record
  const verbs = Object.fromEntries(
    Object.entries(manifest.verbs ?? {}).filter(([verb]) => !takenVerbs.includes(verb)),
  )
  return {
    name: record.name,
    verbs,
    services: manifest.services ?? [],
    provides: (manifest.provides ?? []) as (keyof Contributions)[],
    added: true,
    load: () => loadThirdParty(record, paths),
  }
}

async function loadThirdParty(record: PluginRecord, paths: Paths): Promise<Plugin> {
  await assertSound(record, paths)
  offerPluginApi()
  const folder = installFolder(paths, record)
  try {
    const module: unknown = await import(
      pathToFileURL(join(folder, record.package, record.manifest.entry)).href
    )
    return asPlugin((module as { default?: unknown }).default, record)
  } catch (error) {
    if (isFailure(error, 'plugin_broken')) throw error
    throw failures.plugin_broken({ plugin: record.name, problem: messageOf(error) }, { cause: error })
  }
}

/** Fails with `plugin_broken` unless the plugin's API is known here and its files are those that were added. */
export async function assertSound(record: PluginRecord, paths: Paths): Promise<void> {
  assertApiVersion(record.name, record.manifest.apiVersion)
  const broken = (problem: string, cause?: unknown) =>
    failures.plugin_broken({ plugin: record.name, problem }, { cause })
  if (!isInside(record.manifest.entry)) throw broken('its entry lies outside its package.')
  const actual = await hashTree(installFolder(paths, record)).catch(error => {
    throw broken('its files are gone, or are no longer what you added.', error)
  })
  if (actual !== record.integrity) throw broken('its files were changed after you added it.')
}

/** Whether a relative path stays below the folder it starts from. */
export const isInside = (path: string): boolean =>
  !isAbsolute(path) && !relative('.', path).split(/[/\\]/).includes('..')

/** A look at the shape, so that a plugin that is none is found here and not somewhere inside. */
function asPlugin(value: unknown, { name, manifest }: PluginRecord): Plugin {
  const broken = (problem: string) => failures.plugin_broken({ plugin: name, problem })
  if (typeof value !== 'object' || value === null || !('name' in value))
    throw broken('its default export is not a plugin.')
  const { commands = [], provides = {} } = value as { commands?: unknown; provides?: unknown }
  if (!Array.isArray(commands) || !commands.every(isCommand))
    throw broken('its `commands` are not all classes that extend BaseCommand and have `paths`.')
  const stray = commands
    .flatMap(c => c.paths)
    .find(path => !Object.hasOwn(manifest.verbs ?? {}, path[0] ?? ''))
  if (stray) throw broken(`its manifest does not name the verb "${stray[0]}".`)
  if (typeof provides !== 'object' || provides === null || !Object.values(provides).every(Array.isArray))
    throw broken('its `provides` is not an object of lists.')
  return value as Plugin
}

const isCommand = (value: unknown): value is { paths: string[][] } =>
  typeof value === 'function' &&
  'paths' in value &&
  Array.isArray(value.paths) &&
  value.paths.every(Array.isArray)

/** Fails with `plugin_broken` when a plugin was made for an interface that this host does not offer. */
export function assertApiVersion(plugin: string, version: number): void {
  if (version === API_VERSION || version === API_VERSION - 1) return
  const problem = `it was made for plugin API ${version}; this keelson offers ${API_VERSION}.`
  throw failures.plugin_broken({ plugin, problem })
}

let offered = false

/** `import … from 'keelson/plugin'` inside an added plugin means this very program, wherever the plugin lies. */
function offerPluginApi(): void {
  if (offered) return
  offered = true
  const built = !import.meta.url.endsWith('.ts')
  const url = new URL(built ? './plugin-api.mjs' : './plugin-api.ts', import.meta.url).href
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'keelson/plugin' ? { url, shortCircuit: true } : next(specifier, context),
  })
}
