import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject } from '../../../src/lib/is-object.ts'
import { parseObject } from '../../../src/lib/parse-object.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { failures } from '../failures.ts'
import { type Draft, type Found, toWorkloadName } from '../found.ts'

/** ToolHive's own, or made anew here: names of containers, and the variables that tell a server where to listen. */
const OWN_MEMBERS = new Set(['port', 'base_name', 'container_name', 'thv_ca_bundle'])
const OWN_VARIABLES = new Set(['MCP_TRANSPORT', 'MCP_PORT', 'MCP_HOST', 'FASTMCP_PORT'])
const LOGIN = /^(?:client_secret|bearer_token|cached_.*)$/

/**
 * The workloads of ToolHive, from the run configs in its state folder. Its run config is the format that
 * `run --from-config` reads. Secrets are names in it; their values are elsewhere, and not read.
 */
export async function readToolHive(state: string): Promise<Found[]> {
  const folder = join(state, 'toolhive', 'runconfigs')
  const files = await readdir(folder).catch(() => [])
  const names = files.filter(file => file.endsWith('.json')).sort()
  if (names.length === 0) throw failures.import_nothing({ what: 'ToolHive', place: folder })
  return Promise.all(
    names.map(async file => {
      const text = await readUserFile(join(folder, file), "ToolHive's run config", { pipes: false })
      return toFound(file.slice(0, -'.json'.length), parseObject(text))
    }),
  )
}

function toFound(name: string, config: Record<string, unknown> | undefined): Found {
  if (!config) return { name, problem: 'its run config is not a JSON object.', left: [] }
  const { image } = config
  if (typeof image === 'string' && image.startsWith('toolhivelocal/')) {
    const problem = `ToolHive built its image ${image}, and does not note the package. Run the package: keelson run npx://PACKAGE (or uvx://, go://).`
    return { name, problem, left: [] }
  }
  const left: string[] = []
  const carried: Record<string, unknown> = { name: toWorkloadName(name) }
  for (const [member, value] of Object.entries(config)) {
    if (value === null || member === 'name' || OWN_MEMBERS.has(member)) continue
    if (member === 'permission_profile_name_or_path' && config.permission_profile) continue
    carried[member] = value
  }
  // Else two engines' containers would have one name while both tools are there.
  carried.container_name = `keelson-${carried.name}`
  if (config.port) left.push(`port ${config.port}: ToolHive may still use it`)
  if (isObject(config.env_vars)) carried.env_vars = without(config.env_vars, key => OWN_VARIABLES.has(key))
  if (isObject(config.container_labels)) {
    carried.container_labels = without(config.container_labels, key => key.startsWith('toolhive'))
  }
  if (isObject(config.remote_auth_config)) {
    const auth = without(config.remote_auth_config, key => LOGIN.test(key))
    if (Object.keys(auth).length < Object.keys(config.remote_auth_config).length) {
      left.push('the login at the server: it is a secret of ToolHive; log in again')
    }
    carried.remote_auth_config = auth
  }
  // The document is checked like any other file before it is used.
  return { name, draft: carried as Draft, left }
}

const without = (object: object, drops: (key: string) => boolean): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !drops(key)))
