import { memberText, mergeRaw } from '../../../src/lib/raw-json.ts'
import type { Message } from '../../../src/net/rpc-message.ts'
import { type ClientFacts, readClientFacts } from './modern-meta.ts'
import { withoutTasks } from './without-tasks.ts'

/**
 * The capabilities of a client of MCP 2026-07-28 as servers of the era of sessions are told of them, raw. The proxy
 * announces the changes of roots, which are those of the set of clients.
 */
export function legacyCapabilities(facts: ClientFacts): string {
  const capabilitiesText = withoutTasks(facts.capabilitiesText)
  const roots = memberText(capabilitiesText, 'roots')
  if (!roots?.startsWith('{')) return capabilitiesText
  return mergeRaw(capabilitiesText, `{"roots":${mergeRaw(roots, '{"listChanged":true}')}}`)
}

/** What a client of MCP 2026-07-28 would say in `initialize`, raw; nothing where its request says too little. */
export function initializeParams(request: Message): string {
  const facts = readClientFacts(request)
  if (typeof facts === 'string') return '{}'
  const { infoText } = facts
  const info = infoText?.startsWith('{') ? `,"clientInfo":${infoText}` : ''
  return `{"capabilities":${legacyCapabilities(facts)}${info}}`
}
