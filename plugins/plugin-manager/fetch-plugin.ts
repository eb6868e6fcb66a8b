import { cp, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import * as t from 'typanion'
import type { WaitOptions } from '../../src/contracts/runtime.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import { hashTree } from '../../src/lib/hash-tree.ts'
import { parseDocument } from '../../src/parse-document.ts'
import {
  assertApiVersion,
  isInside,
  manifestSchema,
  type PluginManifest,
  type PluginRecord,
} from '../../src/third-party.ts'
import type { InstallWithNpm } from '../runtime-process/index.ts'
import { failures } from './failures.ts'
import { type PluginSource, sourceText } from './plugin-source.ts'

export interface Fetch {
  readonly npmInstall: InstallWithNpm
  readonly wait: WaitOptions
}

/** Brings a plugin and the packages it needs into an empty folder, and describes it. Runs none of its code. */
export async function fetchPlugin(source: PluginSource, folder: string, fetch: Fetch): Promise<PluginRecord> {
  const where =
    source.kind === 'folder'
      ? await copyFolder(source.path, folder, fetch)
      : await installPackage(source, folder, fetch)
  const text = sourceText(source)
  const described = await describe(join(folder, where), text)
  const integrity = await hashTree(folder).catch(error => {
    throw failures.plugin_manifest({ source: text, problem: `${messageOf(error)}.` }, { cause: error })
  })
  return { ...described, source: text, package: where, integrity }
}

/** Copies without what belongs to development; packages are installed beside the copy, never run. */
async function copyFolder(path: string, folder: string, fetch: Fetch): Promise<string> {
  await describe(path, path)
  const target = join(folder, 'package')
  const left = new Set(['node_modules', '.git'])
  await cp(path, target, {
    recursive: true,
    verbatimSymlinks: true,
    filter: from => from === path || !left.has(basename(from)),
  }).catch(error => {
    throw failures.plugin_source({ source: path, problem: `${messageOf(error)}.` }, { cause: error })
  })
  const { dependencies, optionalDependencies } = await readPackage(target, path)
  if (Object.keys({ ...dependencies, ...optionalDependencies }).length > 0) {
    await install(folder, { dependencies, optionalDependencies }, path, fetch)
  }
  return 'package'
}

async function installPackage(
  source: Exclude<PluginSource, { kind: 'folder' }>,
  folder: string,
  fetch: Fetch,
): Promise<string> {
  const text = sourceText(source)
  if (source.kind === 'archive') {
    const archive = 'plugin.tgz'
    await cp(source.path, join(folder, archive))
    return install(folder, { dependencies: { plugin: `file:${archive}` } }, text, fetch, archive)
  }
  const [, name = '', wanted = 'latest'] = /^(@?[^@]+)(?:@(.+))?$/.exec(source.spec) ?? []
  return install(folder, { dependencies: { [name]: wanted } }, text, fetch)
}

/**
 * Installs what a package.json of ours asks for. One of the plugin would bring along its folder's
 * settings of npm and its workspaces. Returns where the first package lies.
 */
async function install(
  folder: string,
  wanted: Pick<t.InferType<typeof packageSchema>, 'dependencies' | 'optionalDependencies'>,
  source: string,
  { npmInstall, wait }: Fetch,
  archive?: string,
): Promise<string> {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, ...wanted }))
  const result = await npmInstall({ folder, archive, omitPeers: true }, wait)
  if (result.status === 'missing') throw failures.plugin_npm_missing()
  if (result.status === 'failed') throw failures.plugin_install({ source, problem: result.problem })
  return join('node_modules', Object.keys(wanted.dependencies ?? {})[0] ?? '')
}

const packageSchema = t.isObject(
  {
    name: t.isOptional(t.isString()),
    version: t.isOptional(t.isString()),
    dependencies: t.isOptional(t.isRecord(t.isString())),
    optionalDependencies: t.isOptional(t.isRecord(t.isString())),
    keelson: t.isOptional(t.isUnknown()),
  },
  { extra: t.isUnknown() },
)

async function readPackage(folder: string, source: string) {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(error => {
    throw failures.plugin_manifest({ source, problem: 'it has no package.json.' }, { cause: error })
  })
  try {
    return parseDocument(text, 'package.json', packageSchema)
  } catch (error) {
    throw failures.plugin_manifest({ source, problem: messageOf(error) }, { cause: error })
  }
}

const NAME = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/
const VERB = /^[a-z][a-z0-9-]*$/

async function describe(
  folder: string,
  source: string,
): Promise<Pick<PluginRecord, 'name' | 'version' | 'manifest'>> {
  const { name, version, keelson } = await readPackage(folder, source)
  const wrong = (problem: string) => failures.plugin_manifest({ source, problem })
  if (name === undefined || !NAME.test(name)) throw wrong('its package.json has no valid `name`.')
  if (version === undefined || version === '') throw wrong('its package.json has no `version`.')
  if (keelson === undefined) throw wrong('its package.json has no member `keelson`.')
  const manifest = parseManifest(keelson, wrong)
  try {
    assertApiVersion(name, manifest.apiVersion)
  } catch (error) {
    if (!isFailure(error, 'plugin_broken')) throw error
    throw wrong((error.details as { problem: string }).problem)
  }
  return { name, version, manifest }
}

function parseManifest(value: unknown, wrong: (problem: string) => Error): PluginManifest {
  const errors: string[] = []
  if (!manifestSchema(value, { errors }))
    throw wrong(
      `\`keelson\` in its package.json: ${errors.map(line => line.replace(/^\.:? ?/, '')).join('; ')}.`,
    )
  if (!isInside(value.entry)) throw wrong('`keelson.entry` lies outside the package.')
  const bad = Object.keys(value.verbs ?? {}).find(verb => !VERB.test(verb))
  if (bad !== undefined)
    throw wrong(`"${bad}" cannot be a verb; a verb is lower-case letters, digits and dashes.`)
  return value
}
