import type { CallFacts } from '../call-facts.ts'
import { createBoundedValues, OTHER } from './bounded-values.ts'

/** What clients send by the revisions of MCP. Other methods are known once a server has responded to one. */
const METHODS = [
  ...['initialize', 'ping', 'server/discover', 'logging/setLevel', 'completion/complete'],
  ...['tools/list', 'tools/call', 'prompts/list', 'prompts/get'],
  ...['resources/list', 'resources/templates/list', 'resources/read'],
  ...['resources/subscribe', 'resources/unsubscribe', 'subscriptions/listen'],
  ...['tasks/list', 'tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update'],
  ...['notifications/initialized', 'notifications/cancelled', 'notifications/progress'],
  ...['notifications/roots/list_changed', 'notifications/tasks/status'],
]

/** The labels that say what a call is about. Names that callers invent have none of their own. */
export interface LabelValues {
  /** `isProven`: the server has responded with a result. */
  methodOf(call: CallFacts, isProven: boolean): string
  /** A promise where the server is asked whether it has such a tool. */
  resourceOf(call: CallFacts, isProven: boolean): string | Promise<string>
}

export function createLabelValues(isListed: (tool: string) => boolean | Promise<boolean>): LabelValues {
  const methods = createBoundedValues(METHODS)
  const resources = createBoundedValues()
  return {
    methodOf: ({ method }, isProven) => (isProven ? methods.learn(method) : methods.of(method)),
    resourceOf({ resource, tool }, isProven) {
      if (resource === '') return ''
      if (isProven) return resources.learn(resource)
      const label = resources.of(resource)
      if (label !== OTHER || tool === undefined) return label
      const listed = isListed(tool)
      if (typeof listed === 'boolean') return listed ? resources.learn(tool) : OTHER
      return listed.then(is => (is ? resources.learn(tool) : OTHER))
    },
  }
}
