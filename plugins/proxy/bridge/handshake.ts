import { VERSION } from '../../../src/build-info.ts'
import { NO_HANDSHAKE } from '../error-codes.ts'
import { mergeRaw, parseRaw, topLevelMembers } from '../raw-json.ts'
import type { Answer, AskServer } from './ask-server.ts'

/** The one `initialize` of a server process, shared by all clients (MCP lifecycle). */
export interface Handshake {
  /** Initialises with a client's parameters, or repeats what was agreed on. Errors are not kept. */
  initialize(paramsText: string): Promise<Answer>
  /** Initialises in our own name, for clients that speak without a session. */
  ensure(): Promise<Answer>
  /** What was agreed on; undefined before. */
  readonly agreed: { readonly version: string; readonly result: string } | undefined
  /** Something was agreed on with this process or one before it. */
  readonly known: boolean
  /** The server refused the handshake as a server of 2026-07-28 or newer does. */
  readonly modern: boolean
  /** Takes a client's `notifications/initialized`: true for the first, which goes to the server. */
  initialized(): boolean
  /** Brings a new process to where the old one was. False when it refuses, or when there is nothing to repeat. */
  replay(): Promise<boolean>
  /** The parameters that a candidate is initialised with. */
  readonly offer: string
  /** A promoted candidate has answered the offer with this result; without a result it is a modern server. */
  adopt(resultText: string | undefined): void
  /** The process has gone. */
  lost(): void
}

/**
 * What we tell the server that clients can do: everything that can be routed to one that can.
 *
 * It is asked once, and by whoever comes first (which may be a tool that only lists tools); later clients could
 * never be asked anything if the first one's word stood. A question that no client can take is answered -32601.
 */
const ROUTABLE: Readonly<Record<string, string>> = {
  sampling: '{"context":{},"tools":{}}',
  elicitation: '{"form":{},"url":{}}',
  roots: '{"listChanged":true}',
}
const LATEST = '2025-11-25'
const REPLAY_TIMEOUT_MS = 30_000
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}'

const ownParams = (): string =>
  JSON.stringify({
    protocolVersion: LATEST,
    capabilities: {},
    clientInfo: { name: 'keelson', version: VERSION },
  })

function memberText(text: string, name: string): string | undefined {
  const span = topLevelMembers(text)?.at.get(name)
  return span && text.slice(span.start, span.end)
}

/** A member of what should be an object, whatever a server wrote. */
const memberOf = (text: string, name: string): unknown => {
  const member = memberText(text, name)
  return member === undefined ? undefined : parseRaw(member)
}

/** A client's parameters with all routable capabilities; what it says itself, unknown members too, stays. */
export function withRoutableCapabilities(paramsText: string): string {
  const stated = memberText(paramsText, 'capabilities') ?? '{}'
  const routable = Object.entries(ROUTABLE).map(
    ([name, ours]) => `${JSON.stringify(name)}:${mergeRaw(ours, memberText(stated, name) ?? '{}')}`,
  )
  return mergeRaw(paramsText, `{"capabilities":${mergeRaw(stated, `{${routable.join(',')}}`)}}`)
}

export function createHandshake(options: { ask: AskServer; write: (text: string) => boolean }): Handshake {
  const { ask, write } = options
  let running: Promise<Answer> | undefined
  let agreed: { version: string; result: string } | undefined
  let sentParams: string | undefined
  let initializedSent = false
  let modern = false

  async function run(params: string, timeout: { timeoutMs?: number } = {}): Promise<Answer> {
    const answer = await ask('initialize', params, timeout)
    running = undefined
    if (answer.kind === 'result') {
      agree(params, answer.text)
    } else if (answer.kind === 'error') {
      modern = NO_HANDSHAKE.has(memberOf(answer.text, 'code'))
    }
    return answer
  }

  function agree(params: string, resultText: string): void {
    const version = memberOf(resultText, 'protocolVersion')
    agreed = { version: typeof version === 'string' ? version : LATEST, result: resultText }
    sentParams = params
    modern = false
  }

  async function initialize(paramsText: string): Promise<Answer> {
    if (agreed) return { kind: 'result', text: agreed.result }
    running ??= run(withRoutableCapabilities(paramsText))
    return running
  }

  const handshake: Handshake = {
    initialize,
    async ensure() {
      const answer = await initialize(ownParams())
      if (answer.kind === 'result' && handshake.initialized()) write(INITIALIZED)
      return answer
    },
    get agreed() {
      return agreed
    },
    get known() {
      return sentParams !== undefined
    },
    get modern() {
      return modern
    },
    initialized() {
      const first = !initializedSent
      initializedSent = true
      return first
    },
    async replay() {
      const params = sentParams
      if (params === undefined) return false
      running ??= run(params, { timeoutMs: REPLAY_TIMEOUT_MS })
      const answer = await running
      if (answer.kind !== 'result') {
        sentParams = undefined
        initializedSent = false
        return false
      }
      if (initializedSent) write(INITIALIZED)
      return true
    },
    get offer() {
      return sentParams ?? withRoutableCapabilities(ownParams())
    },
    adopt(resultText) {
      running = undefined
      if (resultText !== undefined) {
        agree(handshake.offer, resultText)
        initializedSent = true
        return
      }
      agreed = undefined
      sentParams = undefined
      initializedSent = false
      modern = true
    },
    lost() {
      agreed = undefined
      modern = false
    },
  }
  return handshake
}
