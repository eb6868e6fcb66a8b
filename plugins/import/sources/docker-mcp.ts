import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject } from '../../../src/lib/is-object.ts'
import { parseYaml } from '../../../src/lib/parse-yaml.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { failures } from '../failures.ts'
import type { Found } from '../found.ts'
import { fromCatalog } from './from-catalog.ts'

/**
 * The servers that are enabled in `docker mcp`: those that registry.yaml names, as the catalogues describe them, with
 * the values of config.yaml and the tools that tools.yaml leaves. Its secrets are kept elsewhere, and not read.
 */
export async function readDockerMcp(home: string): Promise<Found[]> {
  const folder = join(home, '.docker', 'mcp')
  const catalogs = await readdir(join(folder, 'catalogs')).catch(() => [])
  const [enabled, config, tools, ...known] = await Promise.all([
    readYaml(join(folder, 'registry.yaml')),
    readYaml(join(folder, 'config.yaml')),
    readYaml(join(folder, 'tools.yaml')),
    ...catalogs
      .filter(file => /\.ya?ml$/.test(file))
      .sort()
      .map(file => readYaml(join(folder, 'catalogs', file))),
  ])
  const names = Object.keys(registryOf(enabled))
  if (names.length === 0)
    throw failures.import_nothing({ what: 'docker mcp', place: join(folder, 'registry.yaml') })
  return names.sort().map(name => {
    const entry = known.map(catalog => own(registryOf(catalog), name)).find(isObject)
    if (!entry)
      return { name, problem: `no catalogue in ${join(folder, 'catalogs')} describes it.`, left: [] }
    return fromCatalog(name, entry, { config, tools: own(tools, name) })
  })
}

const own = (object: unknown, name: string): unknown =>
  isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined

function registryOf(file: unknown): Record<string, unknown> {
  const registry = own(file, 'registry')
  return isObject(registry) ? registry : {}
}

/** Undefined where there is no such file. */
async function readYaml(path: string): Promise<unknown> {
  const text = await readUserFile(path, 'The file of docker mcp', { pipes: false }).catch(() => undefined)
  if (text === undefined) return undefined
  try {
    return parseYaml(text)
  } catch (error) {
    throw failures.import_unreadable({ path, problem: 'it is not YAML.' }, { cause: error })
  }
}
