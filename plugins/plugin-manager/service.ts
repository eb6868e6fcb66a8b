import type { WaitOptions } from '../../src/contracts/runtime.ts'
import { isFailure } from '../../src/errors.ts'
import { suggest } from '../../src/lib/suggest.ts'
import type { Paths } from '../../src/paths.ts'
import type { PluginEntry } from '../../src/plugin.ts'
import { assertSound, type PluginRecord } from '../../src/third-party.ts'
import type { InstallWithNpm } from '../runtime-process/index.ts'
import { failures } from './failures.ts'
import { fetchPlugin } from './fetch-plugin.ts'
import { parsePluginSource } from './plugin-source.ts'
import { createPluginStore } from './plugin-store.ts'

/** A plugin that lies ready to be added. One of `commit` and `discard` must be called. */
export interface StagedPlugin {
  readonly record: PluginRecord
  /** The added plugin of the same name that it would replace. */
  readonly replaces: PluginRecord | undefined
  commit(): Promise<void>
  discard(): Promise<void>
}

/** An added plugin and whether it would load. */
export interface PluginState extends PluginRecord {
  readonly state: 'ok' | 'broken'
  /** Why it is broken. */
  readonly problem?: string
}

export interface Plugins {
  /**
   * Fetches a plugin with all it needs and reads its manifest; runs none of its code and changes nothing yet.
   * Paths are relative to `folder`.
   */
  stage(source: string, options: WaitOptions & { folder: string }): Promise<StagedPlugin>
  list(): Promise<PluginState[]>
  /** Fails with `plugin_missing`. */
  remove(name: string): Promise<void>
}

/** Adds and removes the plugins of third parties. `builtins` are the plugins whose names and verbs are taken. */
export function createPlugins({
  paths,
  builtins,
  npmInstall,
}: {
  paths: Paths
  builtins: readonly PluginEntry[]
  npmInstall: InstallWithNpm
}): Plugins {
  const store = createPluginStore(paths)

  function assertFree(record: PluginRecord, others: readonly PluginRecord[]): void {
    const taken = (what: string, by: string) => failures.plugin_taken({ plugin: record.name, what, by })
    if (builtins.some(entry => entry.name === record.name))
      throw taken(`the name "${record.name}"`, 'a plugin of keelson itself')
    for (const verb of Object.keys(record.manifest.verbs ?? {})) {
      if (verb === 'help' || builtins.some(entry => Object.hasOwn(entry.verbs ?? {}, verb)))
        throw taken(`the command "${verb}"`, 'keelson itself')
      const other = others.find(({ manifest }) => Object.hasOwn(manifest.verbs ?? {}, verb))
      if (other) throw taken(`the command "${verb}"`, `the plugin "${other.name}"`)
    }
  }

  return {
    async stage(text, { folder, ...wait }) {
      const source = await parsePluginSource(text, folder)
      const staging = await store.stage()
      try {
        const record = await fetchPlugin(source, staging.folder, { npmInstall, wait })
        const records = await store.read()
        const others = records.filter(({ name }) => name !== record.name)
        assertFree(record, others)
        return {
          record,
          replaces: records.find(({ name }) => name === record.name),
          async commit() {
            await store.update(
              now => {
                const kept = now.filter(({ name }) => name !== record.name)
                assertFree(record, kept)
                return [...kept, record].sort((a, b) => (a.name < b.name ? -1 : 1))
              },
              { folder: staging.folder, record },
            )
            await staging.discard()
          },
          discard: staging.discard,
        }
      } catch (error) {
        await staging.discard()
        throw error
      }
    },

    async list() {
      const records = await store.read()
      return Promise.all(
        records.map(async record => {
          const error = await assertSound(record, paths).then(
            () => undefined,
            (reason: unknown) => reason,
          )
          if (error === undefined) return { ...record, state: 'ok' as const }
          if (!isFailure(error, 'plugin_broken')) throw error
          return { ...record, state: 'broken' as const, problem: error.message }
        }),
      )
    },

    async remove(name) {
      await store.update(records => {
        if (!records.some(record => record.name === name)) {
          const near = suggest(
            name,
            records.map(record => record.name),
          )
          throw failures.plugin_missing({ name, near })
        }
        return records.filter(record => record.name !== name)
      })
    },
  }
}
