import type { PermissionProfile } from '../../../src/contracts/run-config.ts'
import type { Level } from '../../../src/log.ts'
import type { PolicyOptions } from '../policy.ts'
import type { EgressEvent } from '../proxy/egress-proxy.ts'

/**
 * The protocol between host and helper: HTTP/2 over the standard streams of the program in the helper.
 * Both sides are the same build, since the host sends the program.
 *
 * `PUT /listeners/ID` opens or changes a listener, `DELETE /listeners/ID` closes it, `GET /events` streams
 * one JSON object per line, and CONNECT reaches the instance of an open listener.
 */
export interface ListenerRequest {
  readonly workload: string
  readonly listen: { readonly host: string; readonly port: number }
  readonly peer?: string
  readonly profile: PermissionProfile | undefined
  readonly options: PolicyOptions
  /** Addresses of the user's machine, which servers cannot reach through the helper. */
  readonly forbidden: readonly string[]
}

/** A line of `GET /events`. */
export type HelperEvent =
  | { readonly decision: EgressEvent }
  | { readonly line: { readonly level: Level; readonly text: string; readonly fields: object } }

/** The host pings this often. A helper without a ping for three times as long ends. */
export const HEARTBEAT_MS = 10_000

/** HTTP/2 flow-control window. The default of 64 KiB is slow over long distances. */
export const WINDOW_BYTES = 4 * 1024 * 1024
