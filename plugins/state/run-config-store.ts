import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parseRunConfig, type RunConfig } from '../../src/contracts/run-config.ts'
import { failures as core, type Failure } from '../../src/errors.ts'
import { suggest } from '../../src/lib/suggest.ts'
import type { Log } from '../../src/log.ts'
import type { Paths } from '../../src/paths.ts'
import { withFileLock } from '../../src/with-file-lock.ts'
import { createDocumentFolder } from './document-folder.ts'
import { failures } from './failures.ts'
import { assertWorkloadName } from './workload-name.ts'

const LOCK_SECONDS = 10

/** The run configs of all workloads: `<state>/runconfigs/<name>.json`. */
export interface RunConfigStore {
  /** Fails with `workload_missing`. */
  get(name: string): Promise<RunConfig>
  find(name: string): Promise<RunConfig | undefined>
  /** By name. A file that cannot be read does not stop the others. */
  list(): Promise<RunConfig[]>
  /** What is wrong with the files that cannot be read, by name. */
  problems(): Promise<Map<string, Failure>>
  /** Writes it under its own name, whether or not one is there. */
  save(config: RunConfig): Promise<void>
  /**
   * Fails with `workload_exists` when the name is taken; of two callers at once one wins. `toSaved` makes what is stored
   * of it, and is not called for the one that loses.
   */
  saveNew(config: RunConfig, toSaved?: (config: RunConfig) => Promise<RunConfig>): Promise<void>
  /**
   * Writes another run config in the place of `before`. Fails with `workload_changed` when that is not what is there;
   * a function that makes the other one is not called then. Returns what is stored now.
   */
  saveOver(before: RunConfig, config: RunConfig | (() => Promise<RunConfig>)): Promise<RunConfig>
  /** Resolves when no process is saving it. */
  settled(name: string): Promise<void>
  /** Idempotent. */
  remove(name: string): Promise<void>
}

export function createRunConfigStore({ paths, log }: { paths: Paths; log: Log }): RunConfigStore {
  const documents = createDocumentFolder<RunConfig>({
    folder: join(paths.state, 'runconfigs'),
    log,
    damaged: 'stays',
    parse(text, path, name) {
      const config = parseRunConfig(text, path)
      if (config.name === name) return config
      throw core.invalid_file({ path, problem: `it names the workload "${config.name}".` })
    },
  })
  const locked = <T>(name: string, work: () => Promise<T>) => {
    assertWorkloadName(name)
    const path = `${documents.path(name)}.lock`
    return withFileLock(path, work, { seconds: LOCK_SECONDS })
  }

  async function get(name: string): Promise<RunConfig> {
    const config = await documents.find(name)
    if (config) return config
    throw failures.workload_missing({ name, near: suggest(name, (await documents.list()).keys()) })
  }

  return {
    get,
    find: name => documents.find(name),
    list: async () => [...(await documents.list()).values()],
    problems: documents.problems,
    save: config => locked(config.name, () => documents.save(config.name, config)),
    saveNew: (config, toSaved) =>
      locked(config.name, async () => {
        if (await documents.find(config.name)) throw failures.workload_exists({ name: config.name })
        await documents.save(config.name, toSaved ? await toSaved(config) : config)
      }),
    saveOver: (before, config) =>
      locked(before.name, async () => {
        const { name } = before
        if (!isDeepStrictEqual(await documents.find(name), before)) throw failures.workload_changed({ name })
        await documents.save(name, typeof config === 'function' ? await config() : config)
        return get(name)
      }),
    settled: async name => locked(name, async () => undefined),
    remove: name => locked(name, () => documents.remove(name)),
  }
}
