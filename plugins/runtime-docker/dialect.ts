import type { ApiRequest } from './engine-cli.ts'

/** Which limits and log options an engine supports. */
export interface Abilities {
  readonly memory: boolean
  /** How many cores it has; absent when it cannot limit them. */
  readonly cores?: number
  readonly pids: boolean
  /** `--log-opt` arguments that bound the instance's log. */
  readonly logOptions: readonly string[]
}

/** What the engine's program reports about its server. */
export interface ServerFacts {
  readonly version: string
  readonly warnings: readonly string[]
}

/** A known error message of an engine: what it means and what to do. */
export interface Symptom {
  readonly words: RegExp
  readonly problem: (words: string) => string
  readonly hint: string
}

/** All differences between the command lines of engines. */
export interface Dialect {
  /** Name of the runtime and of the program. */
  readonly name: string
  /** See `Runtime.rank`. */
  readonly rank: number
  /** Whether its helper programs write into the folder they were started in, which must then be one of ours. */
  readonly litters: boolean
  /** Arguments that ask the server for its version, where that is quicker than `infoArguments`; `readServer` reads the output. */
  readonly probeArguments?: readonly string[]
  /** Undefined when only the program responded and no server. */
  readServer(output: unknown): ServerFacts | undefined
  /** Arguments that ask what the engine can do; `readAbilities` reads the output. */
  readonly infoArguments: readonly string[]
  readAbilities(output: unknown): Abilities
  /** Matches its error message when the helper behind `--init` is missing. */
  readonly initMissing: RegExp
  /** Whether an instance that it is about to restart looks as if it had ended, and `stop` does nothing to it. */
  readonly restartsUnseen: boolean
  /** Further arguments of `create`. */
  readonly createArguments: readonly string[]
  /**
   * The request of the API that does what these arguments of `create` do, with the instance's variables, for a program in
   * the environment `env`. Undefined where only the program can do it.
   */
  createRequest?(
    args: readonly string[],
    given: {
      variables: Readonly<Record<string, string>>
      env: Readonly<Record<string, string | undefined>>
    },
  ): ApiRequest | undefined
  /** Options of a tmpfs `--mount` that hides a folder: empty, and read-only. */
  readonly coverOptions: readonly string[]
  /**
   * Path of the engine's Unix socket with the Docker Engine API, by the environment of its program; undefined when the
   * engine may be elsewhere. Absent for an engine whose socket would start a service.
   */
  socket?(env: Readonly<Record<string, string | undefined>>): string | undefined
  /**
   * Names an engine without a daemon as it is now, by the environment of its program; undefined when it may be elsewhere.
   * What it says of itself is cached as long as this stays the same.
   */
  identify?(env: Readonly<Record<string, string | undefined>>): Promise<string | undefined>
  /** Further arguments of `start --attach --interactive`, by the output of `infoArguments`. */
  attachArguments(info: unknown): readonly string[]
  /** Further arguments of `rm --force --volumes`. */
  readonly removeArguments: readonly string[]
  /** Reads one line of `events --format {{json .}}`. */
  readEvent(line: unknown): EngineEvent | undefined
  /** Returns the reference to pull, for an engine that has no default registry. */
  toPullReference(reference: string): string
  /** Arguments and environment that `build` needs; `hasPlugin` asks whether a CLI plugin is there. */
  buildExtras(hasPlugin: (name: string) => Promise<boolean>): Promise<BuildExtras>
  /** The same for a build whose steps join the network of a container. */
  readonly joiningExtras: BuildExtras
  /** Compared in this order. */
  readonly symptoms: readonly Symptom[]
  /** How to install and start the engine. */
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
  /**
   * Says, by the output of `infoArguments`, why this host is not on the bridges of its networks. An engine for
   * which this returns undefined may still be on another host.
   */
  elsewhere(info: unknown): string | undefined
  /** Whether, by the same output, the engine may be on another host, so that the helper's image is fetched early. */
  mayBeElsewhere?(info: unknown): boolean
  /** The network by which the helper reaches the outside. */
  readonly outside: string
  /** Further arguments of `network create --internal` for a network on which the engine's host has no address. */
  hostless(gateway: string): readonly string[]
  /** Whether a restarted instance has another MAC address, which its neighbours do not learn for a while. */
  readonly changesMac: boolean
  /** Which half of the address range it uses. */
  readonly half: 0 | 1
  /** Further arguments of `network create --internal`. */
  readonly createArguments: readonly string[]
  /** Reads `network inspect`. */
  readNetworks(output: unknown): readonly EngineNetwork[]
  /** Name of the bridge, where it follows from what `network create` prints. */
  bridgeOf?(created: string): string
  /** The network of a running container, as `build --network` takes it. */
  joinOf(container: { name: string; pid: number }): string
  /** Brings up the network of a created instance, for an engine that otherwise does so at the instance's start. */
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
