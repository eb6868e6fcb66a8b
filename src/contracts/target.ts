import type { RunConfig, Transport } from './run-config.ts'
import type { RunOptions } from './run-options.ts'
import type { Runtime, WaitOptions } from './runtime.ts'

/** What a target adds to the run config: where the server comes from and how it speaks. */
export type Resolved = Pick<RunConfig, 'image' | 'remote_url' | 'source'> & Partial<RunConfig>

/** Asks the user at the terminal; undefined when there is no terminal. `signal` takes back a question that is not hidden. */
export type Ask = (
  question: string,
  options?: { readonly hidden?: boolean; readonly signal?: AbortSignal },
) => Promise<string | undefined>

/** What a target may ask for while it resolves. */
export interface ResolveContext extends WaitOptions {
  readonly options: RunOptions
  /** The run config that the options make; it wins over what the target resolves. */
  readonly asked: RunConfig
  /** The run config that this one replaces or was made from. The new one must be verified at least as strictly. */
  readonly before?: RunConfig | undefined
  /** The user gave their own permission profile, which replaces the target's. */
  readonly ownProfile?: boolean
  /** The image, package or URL that the user runs in place of the one that a registry entry names. */
  readonly ownSource?: string | undefined
  /** The user named the base image on this command line, so that it may see their logins for builds. */
  readonly ownBaseImage?: boolean
  /** Asks the person at the terminal, without echo if `hidden`; undefined when there is none. */
  readonly ask?: Ask | undefined
  /** Chooses the runtime on first call; never called for remote workloads. */
  runtime(): Promise<Runtime>
}

/** One of the ways to run: recognised by the first argument of `run`. */
export interface Target {
  readonly kind: 'scheme' | 'remote' | 'registry' | 'image'
  /** The transport when the user names none; absent when it is known only after resolving. */
  readonly defaultTransport?: Transport
  /** Whether this target claims the argument. Asked in the order of `TARGET_ORDER`. */
  accepts(argument: string): boolean | Promise<boolean>
  /** The workload's name when the user gives none. */
  defaultName(argument: string): string
  /** Names of this target that a mistyped argument may have meant; asked when nothing came of it. */
  near?(argument: string): Promise<readonly string[]>
  /** Finds, pulls or builds what will run. Progress goes to `report`. */
  resolve(argument: string, context: ResolveContext): Promise<Resolved>
}

/** The only statement of the order in which targets are asked. */
export const TARGET_ORDER: readonly Target['kind'][] = ['scheme', 'remote', 'registry', 'image']
