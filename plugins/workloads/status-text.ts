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

/**
 * What is said of a workload that has been started, in front of its URL. A stdio server may run without a response to
 * `ping`; a package that speaks HTTP unless an argument says otherwise does so too, and never responds.
 */
export function startedText(workload: Workload, now: number): string {
  const { name, status, status_context: context } = workload
  const clients = 'Clients connect to:'
  if (status !== 'running')
    return `${name} is ${statusText(workload, now)}: ${reasonOf(workload)}\n${clients}`
  if (!context) return `${name} is running. ${clients}`
  const silent = 'Some packages speak on standard input and output only when told to, e.g. with `-- --stdio`.'
  const look = `\`keelson logs ${name}\` shows what it printed. ${workload.transport_type === 'stdio' ? silent : ''}`
  return `${name} has started. ${context} ${look.trim()}\n${clients}`
}

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
