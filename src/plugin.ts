import type { App } from './app.ts'
import type { CommandClass } from './cli/base-command.ts'
import type { FlagGroup } from './cli/flags.ts'
import type { Topic } from './cli/help.ts'
import type { Hooks } from './contracts/hooks.ts'
import type { MiddlewareFactory } from './contracts/pipeline.ts'
import type { Preparation } from './contracts/preparation.ts'
import type { RunConfig } from './contracts/run-config.ts'
import type { RunOptions } from './contracts/run-options.ts'
import type { Runtime } from './contracts/runtime.ts'
import type { SecretsProviderOffer } from './contracts/secrets.ts'
import type { SupervisorOperation } from './contracts/supervisor-operation.ts'
import type { Target } from './contracts/target.ts'
import type { TunnelProvider } from './contracts/tunnel.ts'
import type { Members } from './lib/schema.ts'
import type { MiddlewareEntry } from './middleware-entries.ts'

/** Services by name. Each plugin adds its own through declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by the plugins
export interface Services {}

/** The part of the run config that one plugin owns. `checkSections` checks those of all plugins. */
export interface Section {
  /**
   * The members that the plugin adds, with their schemas. `RunConfig` gets their types through declaration
   * merging: `interface RunConfig extends ObjectOf<typeof members> {}`.
   */
  readonly members?: Members
  /** Checks what schemas cannot say. Throws a Failure naming the member that is wrong. */
  check?(config: RunConfig): void
  /** Entries of ToolHive's `middleware_configs` that say what a member says. */
  readonly middlewareEntries?: readonly MiddlewareEntry[]
  /**
   * Stores the members of this section that the run config has, and applies them to the open proxy, so that a change of
   * nothing else needs no restart. Returns false where the proxy is not open: they count from the next start. Fails with
   * `workload_changed`, and stores nothing, when `before` is not what is stored.
   */
  changeLive?(app: App, config: RunConfig, before: RunConfig): Promise<boolean>
  /** Whether requests get credentials of their caller's, so that no login at a remote server is looked for unasked. */
  actsForCallers?(config: RunConfig): boolean
  /** Of all workloads, those that clients reach through this one, so that client applications need no entries for them. */
  standsFor?(config: RunConfig, all: readonly RunConfig[]): readonly string[]
  /**
   * What becomes of members that both the target and the user say something about; without it the user's replace
   * the target's.
   */
  merge?(resolved: Partial<RunConfig>, asked: RunConfig): Partial<RunConfig>
}

/** Implementations that plugins add to what others offer. */
export interface Contributions {
  runtimes: readonly ((app: App) => Runtime | Promise<Runtime>)[]
  targets: readonly ((app: App) => Target)[]
  middlewares: readonly ((app: App) => MiddlewareFactory)[]
  flags: readonly RunFlags[]
  sections: readonly Section[]
  preparations: readonly ((app: App) => Preparation)[]
  secretsProviders: readonly SecretsProviderOffer[]
  tunnels: readonly ((app: App) => TunnelProvider)[]
  /** Made once in each process that takes the role of the supervisor. */
  supervisorOperations: readonly ((app: App) => Promise<SupervisorOperation>)[]
  /** Listeners; made once for each program, on the first notification. */
  hooks: readonly ((app: App) => Hooks)[]
}

/** A flag group that writes what its flags set into a run config. Its plugin adds them to `RunOptions`. */
export interface RunFlags extends FlagGroup {
  /** The flags of the group that were not given have their default. */
  apply?(
    values: RunOptions,
    config: RunConfig,
    given: ReadonlySet<string>,
    /** Tells the user what gives way. */
    warn: (text: string) => void,
  ): void | Promise<void>
}

/** A folder that contributes commands, services and implementations. */
export interface Plugin {
  readonly name: string
  /** Plugins whose `index.ts` this one may import. */
  readonly needs?: readonly string[]
  /** Services of other plugins that it cannot do without. No plugins require each other in a circle. */
  readonly uses?: readonly (keyof Services)[]
  /** Services of other plugins that may be absent: something of this one is missing then, or fails with `service_missing`. */
  readonly wants?: readonly (keyof Services)[]
  readonly commands?: readonly CommandClass[]
  readonly services?: { readonly [K in keyof Services]?: (app: App) => Services[K] | Promise<Services[K]> }
  readonly provides?: Partial<Contributions>
}

/** What is known of a plugin without loading its code. */
export interface PluginEntry {
  readonly name: string
  /** First words of its commands, each with its line in `keelson --help`; one with an empty line is not shown there. */
  readonly verbs?: Readonly<Record<string, string>>
  /** Loads the commands under a verb without the rest of the plugin; absent: they are among what it has. */
  readonly commands?: Readonly<Record<string, () => Promise<readonly CommandClass[]>>>
  /** The heading of these lines. */
  readonly topic?: Topic
  readonly services?: readonly string[]
  readonly provides?: readonly (keyof Contributions)[]
  /** First words of the commands that its flag groups are for, so that others need not load it; absent: any. */
  readonly flagsOf?: readonly string[]
  /** Loads its flag groups without the rest of it; absent: they are among what the plugin provides. */
  flags?(): Promise<readonly RunFlags[]>
  /** Whether the user has added the plugin, so that help runs none of its code. */
  readonly added?: true
  load(): Promise<Plugin>
}
