/** How a method of MCP 2026-07-28 reaches a server of the era of sessions. */
export interface MethodRule {
  /**
   * `discover` and `listen`: the proxy responds. `removed`: the revision has no such method, although older servers
   * do. `forward`: the server responds.
   */
  readonly way: 'discover' | 'listen' | 'removed' | 'forward'
  /** Whether the response may ask the client for input (MCP 2026-07-28, multi round-trip requests). */
  readonly takesInput?: boolean
  /** Whether the result says how long it may be cached (MCP 2026-07-28, caching). */
  readonly cacheable?: boolean
}

const REMOVED: MethodRule = { way: 'removed' }
const LIST: MethodRule = { way: 'forward', cacheable: true }
const ASKING: MethodRule = { way: 'forward', takesInput: true }

const RULES: ReadonlyMap<string, MethodRule> = new Map<string, MethodRule>([
  ['server/discover', { way: 'discover' }],
  ['subscriptions/listen', { way: 'listen' }],
  ['tools/list', LIST],
  ['prompts/list', LIST],
  ['resources/list', LIST],
  ['resources/templates/list', LIST],
  ['resources/read', { way: 'forward', cacheable: true, takesInput: true }],
  ['tools/call', ASKING],
  ['prompts/get', ASKING],
  ['initialize', REMOVED],
  ['ping', REMOVED],
  ['logging/setLevel', REMOVED],
  ['resources/subscribe', REMOVED],
  ['resources/unsubscribe', REMOVED],
  // The tasks of 2025-11-25 are not those of the extension.
  ['tasks/get', REMOVED],
  ['tasks/result', REMOVED],
  ['tasks/list', REMOVED],
  ['tasks/cancel', REMOVED],
  ['tasks/update', REMOVED],
])

/** Methods that no revision names are for the server to judge. */
export const ruleOf = (method: string): MethodRule => RULES.get(method) ?? { way: 'forward' }
