import type { Log } from '../log.ts'

/** A way to make a port of this machine reachable from elsewhere. */
export interface TunnelProvider {
  /** As in `--tunnel-provider`. */
  readonly name: string
  /**
   * Reads the members of `--provider-args` and reaches out to nothing. Fails naming the member that is wrong.
   * `dry-run` is not among them.
   */
  prepare(args: Readonly<Record<string, unknown>>): Promise<TunnelOffer>
}

/** A tunnel whose arguments are valid. */
export interface TunnelOffer {
  /** What will be reachable from where, for people, as the end of "It would …". */
  readonly intent: string
  /** Opens the tunnel to a port of 127.0.0.1. Fails when it cannot be opened. */
  open(port: number, context: { signal: AbortSignal; log: Log }): Promise<Tunnel>
}

/** An open tunnel. */
export interface Tunnel {
  /** What clients connect to, without a path; the first one is shown. Their hosts are accepted in requests. */
  readonly origins: readonly [string, ...string[]]
  /** Resolves with the reason when the tunnel has ended. */
  readonly ended: Promise<string>
  close(): Promise<void>
}
