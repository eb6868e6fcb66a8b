import type { Duplex, Readable, Writable } from 'node:stream'
import type { CallerLogin } from './caller-auth.ts'

/** A package of npm, PyPI or Go, named by a protocol scheme. */
export type Scheme = 'npx' | 'uvx' | 'go'

/**
 * Text for a person who waits: a line for each step, and the details of what goes on below it
 * (a tool's own output), which only a terminal shows, one replaced by the next.
 */
export type Report = (line: string, kind?: 'step' | 'detail') => void

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined
  readonly report?: Report | undefined
}

/** Whether a runtime can be used. A failed probe is a value with its explanation, never an exception. */
export type Probe =
  | { readonly ok: true; readonly version: string; readonly warnings: readonly string[] }
  | {
      readonly ok: false
      readonly problem: string
      readonly hint: string
      /** It is not installed, so nobody expects it to be used. */
      readonly absent?: boolean
    }

export interface Mount {
  /** Absolute path on the host. */
  readonly source: string
  /** Absolute path inside the instance. */
  readonly target: string
  readonly readOnly: boolean
}

/** A path inside the instance that must show nothing: an empty folder, or an empty file. */
export interface HiddenPath {
  readonly target: string
  readonly directory: boolean
}

/** A port of the instance, published on the host. */
export interface PortBinding {
  readonly instancePort: number
  /** Address on the host; loopback unless the user asked for more. */
  readonly address: string
  /** Port on the host; absent: the runtime picks a free one, which `inspect` tells. */
  readonly hostPort?: number
}

export interface Limits {
  /** Bytes. */
  readonly memory?: number
  /** Cores; fractions allowed. */
  readonly cpus?: number
  /** Processes and threads. */
  readonly pids?: number
}

/** Where a server listens: an address and TCP port, or a socket file. Port 0 takes a free port. */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly path: string }

/**
 * How the ports of an isolated instance are reached from this host.
 *
 * Either the instance has an address of its own. Or its side calls back: this host listens at one socket
 * file per port, the instance's side keeps connections to it open ahead of need, and each of them carries
 * one connection that this host opens. (A socket that the instance made could be a link to another.)
 */
export type PortAccess =
  | { readonly address: string }
  | { readonly callbacks: readonly { readonly port: number; readonly path: string }[] }

/**
 * A container of an engine whose networks this host is not on. There is one per engine, and it is a
 * member of every isolated network.
 */
export interface Helper {
  /** Unique per engine. */
  readonly name: string
  /**
   * Runs a program there and returns its standard input and output. The program is an ECMAScript module
   * without dependencies, whose default export is called with both streams. It must end with its input.
   */
  run(program: string): Promise<Duplex>
}

/** A network with one instance. Its only exit is the egress proxy. */
export interface IsolatedNetwork {
  /** Where the egress proxy of the instance must listen: on this host, or in the helper if there is one. */
  readonly proxyAddress: ListenAddress
  /** Present where this host is not on the network: the egress proxy then runs in this container. */
  readonly helper?: Helper
  /** The instance's address; the egress proxy serves no other. Absent for a socket file. */
  readonly peer?: string
  /** The URL of the egress proxy as the instance sees it. */
  readonly proxyUrl: string
  /** Addresses of this host as the instance sees them. */
  readonly gateways: readonly string[]
  /** What is not enforced here although it should be. */
  readonly warnings: readonly string[]
}

/** An isolated network for the steps of one image build. */
export interface IsolatedBuildNetwork extends IsolatedNetwork {
  /** The name to give to `Isolation.remove`. */
  readonly instance: string
  /** The network of those steps, in the syntax of the engine's builder. */
  readonly join: string
}

/** Whether a runtime can isolate networks. `fallback`: a workload that did not ask for isolation may run without. */
export type IsolationProbe =
  | { readonly ok: true /** What would not be enforced. */; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problem: string; readonly hint: string; readonly fallback: boolean }

/** Whether a runtime can keep an instance away from the user's files. */
export type SandboxProbe =
  | { readonly ok: true }
  | { readonly ok: false; readonly problem: string; readonly hint: string }

/** Gives each instance a network of its own. */
export interface Isolation {
  probe(): Promise<IsolationProbe>
  /**
   * Fetches what `prepare` needs, in a process that shows progress. Returns what will not be enforced.
   * Fails with `isolation_unsupported` when it cannot be fetched.
   */
  prefetch?(options?: WaitOptions): Promise<readonly string[]>
  /** Addresses of the engine's host as the instance sees them, as far as they are known now. */
  gateways?(name: string): Promise<readonly string[]>
  /**
   * Creates the network of an instance, or finds the existing one. Call it before `create` and put the
   * result into the spec. Fails with `isolation_unsupported` when it cannot be enforced.
   */
  prepare(name: string, options: { workload: string; signal?: AbortSignal }): Promise<IsolatedNetwork>
  /**
   * Creates a network for one build. A container of `image` keeps it open: the image is on the engine and
   * contains `sleep`. `list` leaves the network out while this process runs. Fails as `prepare` does.
   */
  prepareBuild?(options: { image: string; signal?: AbortSignal | undefined }): Promise<IsolatedBuildNetwork>
  /** Brings up the bridge with the proxy's address, on engines that only do so when the instance starts. After `create`. */
  activate(name: string): Promise<void>
  /** Removes everything that `prepare` created. Idempotent. Stop or remove the instance first. */
  remove(name: string): Promise<void>
  /** Networks that this installation has created. */
  list(): Promise<readonly { readonly instance: string; readonly workload: string }[]>
}

/** All that a runtime needs to know to make an instance. */
export interface InstanceSpec {
  /** Unique per host; what all other calls name. */
  readonly name: string
  /** Image reference, or what `packages.install` returned. */
  readonly image: string
  readonly args: readonly string[]
  /** May hold secrets: never in arguments, labels or logs. */
  readonly env: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  /** Standard input stays open and `attach` is the way in. */
  readonly stdio: boolean
  readonly ports: readonly PortBinding[]
  readonly mounts: readonly Mount[]
  /** Covered, read-only, so that the instance cannot undo it; a runtime that cannot must refuse. */
  readonly hidden?: readonly HiddenPath[]
  /** Container network mode: `bridge` (default), `none`, `host` or the name of a network. */
  readonly network: string | undefined
  /** What `isolation.prepare` made; replaces `network`, and `Instance.portAccess` says how `ports` are reached. */
  readonly isolatedNetwork?: IsolatedNetwork | undefined
  readonly limits: Limits
  /** Whether the runtime itself brings the instance back after a crash or a reboot. */
  readonly restart: 'never' | 'unless-stopped'
  readonly privileged: boolean
  /** The user asked explicitly for a permission profile; a runtime that cannot hold it must refuse. */
  readonly explicitProfile: boolean
  /** The user asked to run it without a sandbox. Without this, a runtime that has no sandbox must refuse. */
  readonly noSandbox?: boolean
}

export type InstanceState = 'created' | 'running' | 'restarting' | 'exited' | 'unknown'

export interface Instance {
  readonly name: string
  /** The runtime's own id; changes when the instance is made anew. */
  readonly id: string
  readonly image: string
  readonly state: InstanceState
  readonly labels: Readonly<Record<string, string>>
  /** Published ports as they are now; empty when not running. */
  readonly ports: readonly Required<PortBinding>[]
  /** How to reach the ports of a running isolated instance. */
  readonly portAccess?: PortAccess
  readonly createdAt: Date
  readonly startedAt?: Date
  readonly exitCode?: number
  /** Why it is not running, in the runtime's words, e.g. "out of memory". */
  readonly reason?: string
  /** The runtime itself restarts it, e.g. after a reboot. */
  readonly restarts?: boolean
}

export interface Exit {
  /** Absent when the stream broke and the runtime cannot say. */
  readonly code?: number
  readonly reason?: string
}

/** The standard streams of a running instance. */
export interface Attachment {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves when the instance has ended or the stream broke; never rejects. */
  readonly exit: Promise<Exit>
  /** Closes the streams; the instance is not stopped. */
  detach(): void
  /** Called before each message of a client who has logged in. Absent where the instance does not act for its client. */
  readonly setLogin?: (login: CallerLogin) => void
}

/** Something that happened to an instance of ours. `gone`: the runtime itself went away; watch again. */
export type InstanceEvent =
  | { readonly kind: 'started' | 'exited' | 'removed'; readonly name: string; readonly exitCode?: number }
  | { readonly kind: 'gone' }

/** What a running instance uses, with all of its processes. */
export interface Usage {
  /** 100 is one core. */
  readonly cpuPercent: number
  readonly memoryBytes: number
}

export interface LogOptions {
  readonly follow?: boolean
  /** Last lines only; absent or 0: all. */
  readonly lines?: number
  /** Only what was printed since then. Needs `Runtime.timesLogs`. */
  readonly since?: Date
  /** Each line begins with its time (RFC 3339). Needs `Runtime.timesLogs`. */
  readonly timestamps?: boolean
  readonly signal?: AbortSignal
}

/** An image or a package that a runtime keeps. */
export interface ImageEntry {
  /** What `remove` takes; a run config names it as its `image`. */
  readonly name: string
  readonly bytes: number
}

export interface ImageStore {
  /** Whether the image is on this host. */
  has(reference: string): Promise<boolean>
  pull(reference: string, options?: WaitOptions): Promise<void>
  build(build: ImageBuild, options?: WaitOptions): Promise<void>
  /** Idempotent. */
  remove(reference: string): Promise<void>
  /** The images that keelson has built. */
  built?(): Promise<ImageEntry[]>
  /** Labels of a local image; undefined when it is not there. */
  labels(reference: string): Promise<Readonly<Record<string, string>> | undefined>
}

export interface ImageBuild {
  readonly tag: string
  /** Folder that holds the build context, the Dockerfile among it. */
  readonly context: string
  readonly dockerfile: string
  readonly labels: Readonly<Record<string, string>>
  /** A label, `name=value`, of stages that hold secrets: their images do not outlive the build, done or failed. */
  readonly passing?: string
  /**
   * `none`: its steps have loopback only. A build network: they reach out through its egress proxy. In both
   * cases they see none of the caller's proxies. Absent: the engine's network for builds.
   */
  readonly network?: 'none' | Pick<IsolatedBuildNetwork, 'join' | 'proxyUrl'>
}

/** A package to run: what the recipe for its scheme needs. */
export interface PackageRequest {
  readonly scheme: Scheme
  /** As written after `://`, e.g. `@scope/name@1.2.3`, or an absolute path for local Go code. */
  readonly package: string
  readonly local: boolean
  readonly buildWith: readonly string[]
}

/** Runs packages straight on the host, for runtimes without images. */
export interface PackageStore {
  /** Installs (cached by content) and returns what `InstanceSpec.image` takes. */
  install(request: PackageRequest, options?: WaitOptions): Promise<{ image: string; version: string }>
  /** The packages that are installed. */
  installed?(): Promise<ImageEntry[]>
  /** Deletes an installed package; idempotent. Fails while a process runs it. */
  remove?(image: string): Promise<void>
}

/** How long an instance that is told to stop may take before it is killed, in seconds. */
export const STOP_GRACE_SECONDS = 10

/**
 * Runs containers or processes. Knows nothing of MCP, authentication or registries.
 *
 * "Not there" is a value: `inspect` returns undefined, `stop` and `remove` of a missing instance succeed.
 */
export interface Runtime {
  readonly name: string
  /**
   * Place in the order in which runtimes are tried when the user names none; lower comes first, 0 to 1000.
   * Absent: 500. From 900 on it is a last resort: it is chosen with a warning that says why no other could be.
   */
  readonly rank?: number
  /** It runs what keelson itself makes: users do not choose it, and it is not tried when they name none. */
  readonly isInternal?: boolean
  /** Whether it knows when each line of a log was printed. */
  readonly timesLogs?: boolean
  /** Present when the runtime runs container images. */
  readonly images?: ImageStore
  /** Present when the runtime runs packages on the host itself. */
  readonly packages?: PackageStore
  /** Present when the runtime can give an instance a network of its own. */
  readonly isolation?: Isolation
  probe(signal?: AbortSignal): Promise<Probe>
  /** Whether this host has a sandbox for instances. Absent for runtimes whose instances are always contained. */
  sandbox?(): Promise<SandboxProbe>
  /** Returns a sentence on the limits that are not fully enforced. Absent when the runtime refuses such limits. */
  missingLimits?(limits: Limits): Promise<string | undefined>
  /** Makes an instance without starting it. Replaces an instance of ours of the same name. */
  create(spec: InstanceSpec, options?: WaitOptions): Promise<void>
  /** Starts a created instance without attaching to its standard streams. Idempotent while it runs. */
  start(name: string): Promise<void>
  /** Starts a created instance and connects its standard streams (only for `stdio` instances). */
  attach(name: string): Promise<Attachment>
  /** Ends it: asks, waits `graceSeconds` (`STOP_GRACE_SECONDS`), then kills. Idempotent. */
  stop(name: string, options?: { graceSeconds?: number }): Promise<void>
  /** Kills if needed and removes with everything made for it. Idempotent. */
  remove(name: string): Promise<void>
  inspect(name: string): Promise<Instance | undefined>
  /** Every instance of ours, running or not. */
  list(): Promise<Instance[]>
  /** Measures running instances, by name; those that have ended meanwhile are left out. Absent: it cannot measure. */
  usage?(names: readonly string[]): Promise<Map<string, Usage>>
  /** Combined standard output and error of the instance. Fails with `instance_missing`. */
  logs(name: string, options?: LogOptions): Promise<Readable>
  /** Events of our instances until the signal aborts. */
  watch(signal: AbortSignal): AsyncIterable<InstanceEvent>
}
