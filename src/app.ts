import { failures, isFailure, messageOf } from './errors.ts'
import type { Log } from './log.ts'
import { createNotify, type Notify } from './notify.ts'
import type { Paths } from './paths.ts'
import type { Contributions, Plugin, PluginEntry, Services } from './plugin.ts'

/** What plugins get from their host. */
export interface App {
  readonly paths: Paths
  readonly log: Log
  readonly env: Readonly<Record<string, string | undefined>>
  /** `--debug` or `KEELSON_DEBUG`. */
  readonly debug: boolean
  /** Every plugin there is, loaded or not. */
  readonly entries: readonly PluginEntry[]
  /** Loads a plugin (once). */
  plugin(entry: PluginEntry): Promise<Plugin>
  /** Makes a service on first use. Fails with `service_missing` when no plugin offers it. */
  service<K extends keyof Services>(name: K): Promise<Services[K]>
  /** The same for a service that may be absent: undefined when no plugin offers it. */
  find<K extends keyof Services>(name: K): Promise<Services[K] | undefined>
  /** What all plugins contribute of one kind. A third-party plugin that cannot be loaded is left out with a warning. */
  contributions<K extends keyof Contributions>(
    kind: K,
    among?: (entry: PluginEntry) => boolean,
  ): Promise<Contributions[K][number][]>
  /** The same, with the plugin that each comes from. */
  contributors<K extends keyof Contributions>(
    kind: K,
    among?: (entry: PluginEntry) => boolean,
  ): Promise<{ readonly entry: PluginEntry; readonly contributed: Contributions[K] }[]>
  /** Tells the plugins that listen (`provides.hooks`); resolves when all have ended. Never fails. */
  notify: Notify
}

export function createApp(options: {
  paths: Paths
  log: Log
  env: Readonly<Record<string, string | undefined>>
  entries: readonly PluginEntry[]
  debug?: boolean
}): App {
  const { paths, log, env, entries, debug = false } = options
  const plugins = new Map<string, Promise<Plugin>>()
  const services = new Map<string, Promise<unknown>>()
  const disabled = new Set<string>()

  const app: App = {
    paths,
    log,
    env,
    debug,
    entries,
    plugin(entry) {
      const plugin = plugins.get(entry.name) ?? entry.load()
      plugins.set(entry.name, plugin)
      return plugin
    },
    service(name) {
      const service = services.get(name) ?? makeService(name)
      services.set(name, service)
      return service as Promise<Services[typeof name]>
    },
    async find(name) {
      return entries.some(entry => entry.services?.includes(name)) ? app.service(name) : undefined
    },
    async contributions(kind, among) {
      const found = await app.contributors(kind, among)
      return found.flatMap(({ contributed }) => contributed as readonly Contributions[typeof kind][number][])
    },
    async contributors(kind, among = () => true) {
      const having = entries.filter(entry => entry.provides?.includes(kind) && among(entry))
      return Promise.all(
        having.map(async entry => ({ entry, contributed: await contributedBy(entry, kind) })),
      )
    },
    notify: (hook, ...args) => notify(hook, ...args),
  }
  const notify = createNotify(app)

  async function contributedBy<K extends keyof Contributions>(
    entry: PluginEntry,
    kind: K,
  ): Promise<Contributions[K]> {
    const found =
      kind === 'flags' && entry.flags ? await entry.flags() : (await load(entry))?.provides?.[kind]
    return (found ?? []) as Contributions[K]
  }

  async function load(entry: PluginEntry): Promise<Plugin | undefined> {
    try {
      return await app.plugin(entry)
    } catch (error) {
      if (!isFailure(error, 'plugin_broken')) throw error
      if (!disabled.has(entry.name)) log.warn(`${messageOf(error)} ${error.hint ?? ''}`.trim())
      disabled.add(entry.name)
      return undefined
    }
  }

  async function makeService(name: string): Promise<unknown> {
    const entry = entries.find(candidate => candidate.services?.includes(name))
    const factory =
      entry &&
      ((await app.plugin(entry)).services as Record<string, (app: App) => unknown> | undefined)?.[name]
    if (!factory) throw failures.service_missing({ service: name })
    return factory(app)
  }

  return app
}
