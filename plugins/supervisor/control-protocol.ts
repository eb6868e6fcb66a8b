import { join } from 'node:path'
import * as t from 'typanion'
import type { SupervisorStatus } from '../../src/contracts/workload.ts'
import { Failure, isFailure, messageOf } from '../../src/errors.ts'
import type { Paths } from '../../src/paths.ts'
import { failures } from './failures.ts'

/** The files of the supervisor and its clients. */
export const supervisorPaths = (paths: Paths) => ({
  socket: join(paths.runtime, 'supervisor.sock'),
  /** Held by the client that starts a supervisor. */
  starting: join(paths.runtime, 'supervisor.starting'),
  leases: join(paths.runtime, 'leases'),
  /** Held by the supervisor. In the data folder, which is the same in every login session. */
  lock: join(paths.data, 'supervisor', 'lock'),
  /** Where the holder of the lock listens. */
  address: join(paths.data, 'supervisor', 'socket'),
  journal: join(paths.data, 'supervisor', 'journal.json'),
  log: join(paths.data, 'logs', 'supervisor.log'),
})

/** The response of `GET /info`. */
export type Info = SupervisorStatus

export const isInfo = t.isObject({
  build: t.isString(),
  pid: t.isNumber(),
  workloads: t.isNumber(),
})

/** The response of `POST /handover`. */
export interface Handover {
  /** Whether the process goes on with other work (`serve`). */
  readonly goesOn?: boolean
  /** Inputs for the operations of the next supervisor, by name. */
  readonly operations?: Readonly<Record<string, unknown>>
}

/**
 * The requests: `POST /workloads/<name>/<verb>`, `GET /info`, `GET /adopted`, `POST /handover`, and
 * `POST /operations/<name>` with the input as JSON.
 */
export const VERBS = ['start', 'stop', 'restart', 'remove', 'upgrade', 'settle-upgrade'] as const
export type Verb = (typeof VERBS)[number]

const isWireFailure = t.isObject({
  code: t.isString(),
  text: t.isString(),
  status: t.isNumber(),
  exit: t.isNumber(),
  hint: t.isOptional(t.isString()),
})

/** A failure in a response. Any other error is a bug, of which only the message is sent. */
export function encodeFailure(error: unknown): { status: number; body: string } {
  const failure = isFailure(error) ? error : failures.supervisor_internal({ problem: messageOf(error) })
  const { code, message, status, exit, hint } = failure
  return { status, body: JSON.stringify({ code, text: message, status, exit, ...(hint ? { hint } : {}) }) }
}

export function decodeFailure(body: string): Failure {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    value = undefined
  }
  if (!isWireFailure(value)) return failures.supervisor_internal({ problem: 'its response cannot be read' })
  const { code, text, status, exit, hint } = value
  return new Failure(code, { text, status, exit: exit === 2 ? 2 : 1, hint })
}
