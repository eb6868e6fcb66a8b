import type { App } from '../../src/app.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { readEnvFolder } from '../../src/env-files.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import {
  findWantedMounts,
  type ImageServer,
  isRemote,
  type Registry,
  type ServerJson,
  toMountLists,
  toView,
} from '../registry/index.ts'
import type { WorkloadStore } from '../state/index.ts'
import type { Workloads } from '../workloads/index.ts'
import { type ApplyOptions, applyUpgrade, type UpgradeResult } from './apply-upgrade.ts'
import type { UpgradeCheck } from './check-result.ts'
import { compareReferences } from './compare-references.ts'
import { configDrift, envVarDrift } from './find-drift.ts'

/** Finds newer versions of workloads in the registry, and upgrades workloads to them. */
export interface Upgrades {
  /** Compares a workload with its registry entry. Fetches no image. Fails with `workload_missing`. */
  check(name: string): Promise<UpgradeCheck>
  /** Checks workloads, by name; without `all` only running ones. Unreadable ones are left out with a warning. */
  checkAll(filter?: { all?: boolean; group?: string | undefined }): Promise<UpgradeCheck[]>
  /**
   * Replaces the running server by the newer version, once that responds. Changes nothing when there is no newer
   * version. Fails with `workload_missing`, `upgrade_failed`, and the failures of `run`.
   */
  apply(name: string, options?: ApplyOptions): Promise<UpgradeResult>
}

export function createUpgrades(options: {
  app: App
  workloads: Pick<Workloads, 'list'>
  configs: Pick<WorkloadStore['configs'], 'get' | 'list'>
  registry: Pick<Registry, 'find' | 'source'>
  log: Log
}): Upgrades {
  const { app, workloads, configs, registry, log } = options

  async function checkOne(config: RunConfig): Promise<UpgradeCheck> {
    const current = config.remote_url ? undefined : (config.source ?? config.image)
    const server = config.registry_server_name
    const known = {
      workload_name: config.name,
      ...(server ? { registry_server: server } : {}),
      ...(current ? { current_image: current } : {}),
    }
    if (!server) return { ...known, status: 'not-registry-sourced' }
    let entry: ServerJson | undefined
    let other: string | undefined
    try {
      entry = await registry.find(server)
      other = await otherRegistry(config)
    } catch (error) {
      // The error may hold addresses and responses of a private registry.
      log.warn(`The registry cannot be asked about "${server}": ${messageOf(error)}`, {
        workload: config.name,
      })
      return { ...known, status: 'unknown', reason: 'registry lookup failed' }
    }
    if (!entry) return { ...known, status: 'server-not-found', ...(other ? { reason: other } : {}) }
    if (other) return { ...known, status: 'unknown', reason: other }
    const view = toView(entry)
    if (isRemote(view) || !view.image || !current) {
      return { ...known, status: 'unknown', reason: 'the registry entry is not an image' }
    }
    const compared = compareReferences(current, view.image)
    const both = { ...known, candidate_image: view.image }
    if (compared.kind === 'unknown') return { ...both, status: 'unknown', reason: compared.reason }
    if (compared.kind === 'not-newer') return { ...both, status: 'up-to-date' }
    const variables = envVarDrift(config, view, await folderNames(config))
    const posture = configDrift(config, { ...view, ...(await resolvedPermissions(view)) })
    return {
      ...both,
      status: 'upgrade-available',
      ...(variables ? { env_var_drift: variables } : {}),
      ...(posture ? { config_drift: posture } : {}),
    }
  }

  /**
   * Why the workload cannot be compared with the registry in use: it came from another registry. The secrets
   * and permissions of a server are not given to one of the same name from another registry. Run configs of
   * earlier versions name only registries on the network.
   */
  async function otherRegistry(config: RunConfig): Promise<string | undefined> {
    const from = config.registry_source || config.registry_api_url || config.registry_url
    const { kind, place } = await registry.source()
    if (from ? place === from : kind === 'default' || kind === 'file') return undefined
    return from ? `it came from another registry, ${from}` : 'it came from another registry'
  }

  /** The permissions as `run` would resolve them, so that equal ones do not count as drift. */
  async function resolvedPermissions({
    permissions,
  }: ImageServer): Promise<Pick<ImageServer, 'permissions'>> {
    if (!permissions) return {}
    const { mounts } = await findWantedMounts(permissions, { cwd: process.cwd(), home: app.paths.home })
    const { read: _, write: __, ...rest } = permissions
    return { permissions: { ...rest, ...toMountLists(mounts) } }
  }

  /** The names of the variables. The folder is read at every start, so it may be missing now. */
  async function folderNames({ name, env_file_dir }: RunConfig): Promise<string[]> {
    if (!env_file_dir) return []
    try {
      return Object.keys(await readEnvFolder(env_file_dir, log))
    } catch (error) {
      if (!isFailure(error)) throw error
      log.warn(`The variables in ${env_file_dir} are not counted: ${error.message}`, { workload: name })
      return []
    }
  }

  return {
    check: async name => checkOne(await configs.get(name)),
    apply: (name, options = {}) => applyUpgrade(app, name, checkOne, options),
    async checkAll(filter) {
      const [listed, saved] = [await workloads.list(filter), await configs.list()]
      const byName = new Map(saved.map(config => [config.name, config]))
      const there = listed.flatMap(({ name }) => byName.get(name) ?? [])
      return Promise.all(there.map(checkOne))
    },
  }
}
