/**
 * How a method of the era of sessions reaches a server of 2026-07-28.
 *
 * `pong`, `level`, `subscribe`, `unsubscribe`: the proxy responds. `unknown`: no server of that revision has it, at
 * least not with this meaning. `forward`: the server responds. `rounds`: the server responds, and may want input of
 * the client first (multi round-trip requests).
 */
type Way = 'pong' | 'level' | 'subscribe' | 'unsubscribe' | 'unknown' | 'forward' | 'rounds'

const WAYS: ReadonlyMap<string, Way> = new Map<string, Way>([
  ['ping', 'pong'],
  ['logging/setLevel', 'level'],
  ['resources/subscribe', 'subscribe'],
  ['resources/unsubscribe', 'unsubscribe'],
  ['tools/call', 'rounds'],
  ['prompts/get', 'rounds'],
  ['resources/read', 'rounds'],
  // The tasks of 2025-11-25 are not those of the extension.
  ['tasks/get', 'unknown'],
  ['tasks/result', 'unknown'],
  ['tasks/list', 'unknown'],
  ['tasks/cancel', 'unknown'],
  ['tasks/update', 'unknown'],
  ['server/discover', 'unknown'],
  ['subscriptions/listen', 'unknown'],
])

export const wayOf = (method: string): Way => WAYS.get(method) ?? 'forward'

/** Notifications of older clients that say nothing to a server of 2026-07-28. */
export const UNHEARD: ReadonlySet<string> = new Set([
  'notifications/initialized',
  'notifications/roots/list_changed',
  'notifications/progress',
])
