import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { App } from '../../src/app.ts'
import { parseRunConfig, type RunConfig } from '../../src/contracts/run-config.ts'
import type { Ask } from '../../src/contracts/target.ts'
import { isFailure } from '../../src/errors.ts'
import { inScratchFolder } from '../../src/lib/scratch-folder.ts'
import { takeOverEntries } from '../../src/middleware-entries.ts'
import { checkSections } from '../../src/sections.ts'
import type { Groups } from '../groups/index.ts'
import type { Workloads } from '../workloads/index.ts'
import { failures } from './failures.ts'
import type { Found } from './found.ts'

/** A server that was found, and what would be made of it. */
export interface Planned {
  readonly name: string
  /** Absent where `problem` says why nothing is made. */
  readonly config?: RunConfig
  readonly problem?: string
  readonly left: readonly string[]
}

export interface MakeOptions {
  readonly start: boolean
  readonly runtime?: string | undefined
  readonly signal: AbortSignal
  readonly report: (text: string) => void
  readonly say: (text: string) => void
  readonly ask: Ask
}

/** Makes workloads of what other tools have configured. */
export interface Imports {
  /**
   * What would be made of `toolhive`, `docker-mcp` or a client's file. Changes nothing and reaches nothing. Fails with
   * `import_nothing`, `import_unreadable` or `import_source_missing`.
   */
  plan(source: string): Promise<Planned[]>
  /** Makes a workload as `run --from-config` does, stopped unless `start`. Fails as that does. */
  make(config: RunConfig, options: MakeOptions): Promise<void>
}

export function createImports(options: { app: App; workloads: Workloads; groups: Groups }): Imports {
  const { app, workloads, groups } = options

  async function check(found: Found, taken: Set<string>): Promise<Planned> {
    const { name, draft, left, problem = '' } = found
    if (!draft) return { name, problem, left }
    if (taken.has(draft.name)) return { name, problem: `there is a workload "${draft.name}" already.`, left }
    taken.add(draft.name)
    try {
      const config = await takeOverEntries(
        app,
        parseRunConfig(JSON.stringify({ group: 'default', ...draft }), `"${name}"`),
      )
      await checkSections(app, config)
      return { name, config, left }
    } catch (error) {
      if (!isFailure(error)) throw error
      return { name, problem: error.message, left }
    }
  }

  return {
    async plan(source) {
      const taken = new Set((await workloads.list({ all: true })).map(({ name }) => name))
      const planned: Planned[] = []
      for (const found of await readSource(app, source)) planned.push(await check(found, taken))
      return planned
    },

    async make(config, { start, runtime, ...person }) {
      const { group = 'default' } = config
      if (!(await groups.find(group))) await groups.create(group)
      // Through a file, so that it is treated as the file of somebody else that `run --from-config` reads.
      const prepared = await inScratchFolder(async folder => {
        const path = join(folder, `${config.name}.json`)
        await writeFile(path, JSON.stringify(config), { mode: 0o600 })
        const given = { 'from-config': path, ...(runtime && !config.remote_url ? { runtime } : {}) }
        return workloads.prepare({
          argument: '',
          serverArgs: [],
          options: given,
          given: new Set(Object.keys(given)),
          typed: true,
          cwd: process.cwd(),
          debug: app.debug,
          ...person,
        })
      })
      if (start) await workloads.run(prepared, { portIsGiven: false, signal: person.signal })
      else await workloads.save(prepared, { portIsGiven: false })
    },
  }
}

async function readSource({ paths, env }: App, source: string): Promise<Found[]> {
  if (source === 'toolhive') {
    const state = env.XDG_STATE_HOME?.startsWith('/')
      ? env.XDG_STATE_HOME
      : join(paths.home, STATE[process.platform] ?? '.local/state')
    return (await import('./sources/toolhive.ts')).readToolHive(state)
  }
  if (source === 'docker-mcp') return (await import('./sources/docker-mcp.ts')).readDockerMcp(paths.home)
  const path = resolve(source)
  try {
    return await (await import('./sources/client-file.ts')).readClientFile(path)
  } catch (error) {
    if (isFailure(error, 'file_missing')) throw failures.import_source_missing({ path })
    throw error
  }
}

/** Where ToolHive keeps its state, on other systems than Linux. */
const STATE: Readonly<Record<string, string>> = {
  darwin: 'Library/Application Support',
  win32: 'AppData/Local',
}
