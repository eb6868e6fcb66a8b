/** What is known of an engine before it is asked to do anything: which of our wishes it can fulfil. */
export interface Abilities {
  readonly memory: boolean
  /** How many cores it has; absent when it cannot limit them. */
  readonly cores?: number
  readonly pids: boolean
  /** `--log-opt` arguments that bound the instance's log. */
  readonly logOptions: readonly string[]
}

/** What the program says of its server. */
export interface ServerFacts {
  readonly version: string
  readonly warnings: readonly string[]
}

/** Trouble by the engine's own words: what it means and what to do. */
export interface Symptom {
  readonly words: RegExp
  readonly problem: (words: string) => string
  readonly hint: string
}

/** All in which one engine's command line differs from another's. */
export interface Dialect {
  /** Of the runtime and of the program. */
  readonly name: string
  /** See `Runtime.rank`. */
  readonly rank: number
  /** Its helpers write into the folder they were started in, so that must be one of ours. */
  readonly litters: boolean
  /** Asks the server who it is; the answer goes to `readServer`. */
  readonly probeArguments: readonly string[]
  /** Undefined when nobody but the program itself answered. */
  readServer(answer: unknown): ServerFacts | undefined
  /** Asks what the engine can do; the answer goes to `readAbilities`. */
  readonly infoArguments: readonly string[]
  readAbilities(answer: unknown): Abilities
  /** Its words when the helper behind `--init` is missing. */
  readonly initMissing: RegExp
  /** An instance that it is about to start again looks as if it had ended for good, and `stop` leaves it alone. */
  readonly restartsUnseen: boolean
  /** Further arguments of `create`. */
  readonly createArguments: readonly string[]
  /** Options of a tmpfs `--mount` that hides a folder: empty, and read-only. */
  readonly coverOptions: readonly string[]
  /** Further arguments of `start --attach --interactive`, from the answer to `infoArguments`. */
  attachArguments(info: unknown): readonly string[]
  /** Further arguments of `rm --force --volumes`. */
  readonly removeArguments: readonly string[]
  /** Reads one line of `events --format {{json .}}`. */
  readEvent(line: unknown): EngineEvent | undefined
  /** The reference to pull, for an engine that knows no default registry. */
  toPullReference(reference: string): string
  /** Arguments and environment that `build` needs; `hasPlugin` asks whether a CLI plugin is there. */
  buildExtras(hasPlugin: (name: string) => Promise<boolean>): Promise<BuildExtras>
  /** The same for a build whose steps join the network of a container. */
  readonly joiningExtras: BuildExtras
  /** Asked in this order. */
  readonly symptoms: readonly Symptom[]
  /** How to get it running, for a machine that has it not. */
  readonly install: string
  readonly isolation: IsolationDialect
}

/** An engine's network as far as isolation needs it. */
export interface EngineNetwork {
  readonly name: string
  readonly bridge: string
  readonly gateway: string
  readonly internal: boolean
  readonly labels: Readonly<Record<string, string>>
}

/** How one engine's networks differ from another's. */
export interface IsolationDialect {
  /** Why this host is not on the bridges of its networks, from the answer to `infoArguments`; what says nothing may still be elsewhere. */
  elsewhere(info: unknown): string | undefined
  /** Worth being prepared for it, from the same answer. */
  mayBeElsewhere?(info: unknown): boolean
  /** The network by which the helper reaches the outside. */
  readonly outside: string
  /** Further arguments of `network create --internal` for a network on which the engine's host has no address. */
  hostless(gateway: string): readonly string[]
  /** An instance comes back with another MAC address, which its neighbours do not learn for a while. */
  readonly changesMac: boolean
  /** Which half of the address range is its own. */
  readonly half: 0 | 1
  /** Further arguments of `network create --internal`. */
  readonly createArguments: readonly string[]
  /** Reads `network inspect`. */
  readNetworks(answer: unknown): readonly EngineNetwork[]
  /** Name of the bridge, where it follows from what `network create` prints. */
  bridgeOf?(created: string): string
  /** The network of a running container, as `build --network` takes it. */
  joinOf(container: { name: string; pid: number }): string
  /** Brings up the network of a created instance, where that happens with the instance only. */
  readonly activateArguments?: readonly string[]
}

export interface BuildExtras {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export interface EngineEvent {
  readonly kind: 'started' | 'exited' | 'removed'
  readonly name: string
  readonly exitCode?: number
  readonly labels: Readonly<Record<string, string>>
}
