import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import * as t from 'typanion'
import { parseDocument } from '../../src/document.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import { hashTree } from '../../src/lib/hash-tree.ts'
import {
  assertApiVersion,
  isInside,
  manifestSchema,
  type PluginManifest,
  type PluginRecord,
} from '../../src/third-party.ts'
import { failures } from './failures.ts'
import { npmInstall } from './npm.ts'
import { type PluginSource, sourceText } from './plugin-source.ts'

export interface Fetch {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
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

/** Copies without what belongs to development; packages are installed in the copy, never run. */
async function copyFolder(path: string, folder: string, { env, signal }: Fetch): Promise<string> {
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
  if (Object.keys({ ...dependencies, ...optionalDependencies }).length > 0)
    await npmInstall({ folder: target, source: path, env, signal })
  return 'package'
}

async function installPackage(source: PluginSource, folder: string, { env, signal }: Fetch): Promise<string> {
  const spec = sourceText(source)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n')
  await npmInstall({ folder, spec, source: spec, env, signal })
  const { dependencies } = await readPackage(folder, spec)
  const [name] = Object.keys(dependencies ?? {})
  if (name === undefined) throw failures.plugin_install({ source: spec, problem: 'it installed nothing.' })
  return `node_modules/${name}`
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
