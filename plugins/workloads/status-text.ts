import type { Colour } from '../../src/cli/output.ts'
import type { Status, Workload } from '../../src/contracts/workload.ts'
import { formatUptime } from './uptime.ts'

/** What a person does about it says more than the word of the API. */
const WORDS: Partial<Record<Status, string>> = {
  unauthenticated: 'needs login',
  auth_retrying: 'logging in again',
}

/** The status of a workload in a word or two, with how long its server has run. */
export const statusText = (workload: Workload, now: number): string =>
  [
    WORDS[workload.status] ?? workload.status,
    workload.no_sandbox ? '(no sandbox)' : undefined,
    formatUptime(workload, now),
  ]
    .filter(Boolean)
    .join(' ')

/** Why a workload is not, or not quite, running; one line. */
export const reasonOf = ({ status_context: context = '' }: Workload): string =>
  context.replace(/( Its last lines:)?\n.*/s, '')

const COLOURS: Partial<Record<Status, Colour>> = {
  running: 'green',
  starting: 'yellow',
  stopping: 'yellow',
  unauthenticated: 'yellow',
  auth_retrying: 'yellow',
  unhealthy: 'red',
  error: 'red',
  policy_stopped: 'red',
}

export const statusColour = ({ status }: Workload): Colour | undefined => COLOURS[status]
