import { element } from './element.js'

/** How each status is drawn, by a shape as well as a colour, and what it is called. */
const STATUSES = /** @type {const} */ ({
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
})

/** @param {string} status */
const lookUp = status => STATUSES[/** @type {keyof typeof STATUSES} */ (status)] ?? ['idle', status]

/** @param {string} status */
export const statusWord = status => lookUp(status)[1]

/** Whether something runs, or is about to. @param {string} status */
export const isUp = status => !['stopped', 'error', 'policy_stopped', 'unknown'].includes(status)

/** Whether it is on its way to another status. @param {string} status */
export const isBusy = status => lookUp(status)[0] === 'busy'

/** @param {string} status */
export const statusBadge = status =>
  element(
    'span',
    { class: `status ${lookUp(status)[0]}` },
    element('span', { class: 'shape', 'aria-hidden': 'true' }),
    statusWord(status),
  )
