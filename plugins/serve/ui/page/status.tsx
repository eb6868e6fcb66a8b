/** How each status is drawn, by a shape as well as a colour, and what it is called. */
const STATUSES = {
  running: ['ok', 'Running'],
  stopped: ['idle', 'Stopped'],
  error: ['bad', 'Failed'],
  starting: ['busy', 'Starting'],
  stopping: ['busy', 'Stopping'],
  removing: ['busy', 'Removing'],
  unhealthy: ['warn', 'Unhealthy'],
  unknown: ['idle', 'Unknown'],
  unauthenticated: ['warn', 'Needs a login'],
  auth_retrying: ['warn', 'Logging in again'],
  policy_stopped: ['idle', 'Stopped by policy'],
} as const

const lookUp = (status: string): readonly [kind: string, word: string] =>
  STATUSES[status as keyof typeof STATUSES] ?? ['idle', status]

export const statusWord = (status: string): string => lookUp(status)[1]

const KINDS: readonly string[] = ['bad', 'warn', 'busy', 'ok', 'idle']

/** What wants attention comes first. */
export const rankOf = (status: string): number => KINDS.indexOf(lookUp(status)[0])

/** Whether something runs, or is about to. */
export const isUp = (status: string): boolean =>
  !['stopped', 'error', 'policy_stopped', 'unknown'].includes(status)

/** Whether it is on its way to another status. */
export const isBusy = (status: string): boolean => lookUp(status)[0] === 'busy'

export const StatusBadge = ({ status }: { status: string }) => (
  <span class={`status ${lookUp(status)[0]}`}>
    <span class="shape" aria-hidden="true" />
    {statusWord(status)}
  </span>
)
