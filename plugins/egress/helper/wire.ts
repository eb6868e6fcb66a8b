import type { PermissionProfile } from '../../../src/contracts/run-config.ts'
import type { Level } from '../../../src/log.ts'
import type { PolicyOptions } from '../policy.ts'
import type { EgressEvent } from '../proxy/egress-proxy.ts'

/**
 * What host and helper say to each other: HTTP/2 over the standard streams of the program in the
 * helper, which is the same build, since the host brings it along.
 *
 * `PUT /doors/ID` opens a door or changes it, `DELETE /doors/ID` closes it, `GET /told` streams lines
 * of what happens, CONNECT leads to the instance of an open door.
 */
export interface DoorRequest {
  readonly workload: string
  readonly listen: { readonly host: string; readonly port: number }
  readonly peer?: string
  readonly profile: PermissionProfile | undefined
  readonly options: PolicyOptions
  /** Addresses of the machine that the user sits at: no server gets there through the helper. */
  readonly forbidden: readonly string[]
}

/** A line of `GET /told`. */
export type Told =
  | { readonly decision: EgressEvent }
  | { readonly line: { readonly level: Level; readonly text: string; readonly fields: object } }

/** The host is asked for a sign of life so often; a helper that hears nothing for three times as long ends. */
export const BEAT_MS = 10_000

/** Bytes that one side may send before the other has taken them; the default of 64 KiB slows long ways down. */
export const WINDOW = 4 * 1024 * 1024
