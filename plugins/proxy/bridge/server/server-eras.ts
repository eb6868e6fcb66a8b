import type { Protocol } from '../../../../src/contracts/workload.ts'
import { memberValue, toRaw } from '../../../../src/lib/raw-json.ts'
import { INVALID_PARAMS, INVALID_REQUEST, NO_HANDSHAKE } from '../../../../src/net/rpc-error-codes.ts'
import { isStatelessError } from '../../../../src/net/stateless-error.ts'
import { protocolOf, type ShownEras } from '../../eras/protocol-of.ts'
import { META_2026, META_UNKNOWN } from '../../revisions/index.ts'
import type { Answer, AskServer } from './ask-server.ts'

/**
 * Which eras of MCP a stdio server speaks: `legacy` has `initialize`, `stateless` has metadata in each request
 * (MCP 2026-07-28, versioning).
 *
 * A server of both eras may keep to the one in which its process was first addressed, as the TypeScript SDK does. So
 * what the process serves and what the server is known to speak are two things; the second outlives a restart.
 */
export interface ServerEras {
  /** What the server is known to speak; undefined before the first response. */
  readonly protocol: Protocol | undefined
  /** Whether this process has `initialize`; undefined while nobody has tried. */
  readonly legacy: boolean | undefined
  /** Whether this process serves requests of 2026-07-28. Asks the server when that is not known. */
  servesStateless(): Promise<boolean>
  /** The parameters of a `ping` whose response tells whether the server is stateless. */
  readonly pingParams: string
  /** Takes the response to such a ping. */
  notePing(answer: Answer): void
  /** Takes the response to `initialize`. */
  noteInitialize(answer: Answer): Promise<void>
  /** Another version of the server has taken over, with or without `initialize`. */
  replaced(by: 'initialized' | 'modern'): void
  /** Called when the process has gone. */
  lost(): void
}

const ASK_TIMEOUT_MS = 5000
const MALFORMED: ReadonlySet<unknown> = new Set([INVALID_REQUEST, INVALID_PARAMS])

/** Whether a response shows that its server reads request metadata; undefined when it shows nothing. */
function judgePing(answer: Answer): boolean | undefined {
  if (answer.kind === 'result') return false
  return isRefusedAsStateless(answer) || undefined
}

const isRefusedAsStateless = (answer: Answer): boolean =>
  answer.kind === 'error' &&
  isStatelessError({ code: memberValue(answer.text, 'code'), data: memberValue(answer.text, 'data') })

/**
 * @param options.setting the era that the user has said the server speaks; undefined to find out
 * @param options.onChange called when `protocol` has changed
 */
export function createServerEras(options: {
  ask: AskServer
  setting: 'legacy' | 'stateless' | undefined
  onChange: () => void
}): ServerEras {
  const { ask, setting, onChange } = options
  const fixed = setting && { legacy: setting === 'legacy', stateless: setting === 'stateless' }
  /** What the server speaks, over all of its processes. */
  let known: ShownEras = { ...fixed }
  /** What this process serves. */
  let serves: ShownEras = { ...known }
  let asking: Promise<boolean> | undefined

  /** A server that has spoken an era once is known to speak it. */
  function note(era: 'legacy' | 'stateless', value: boolean): void {
    if (fixed) return
    serves[era] = value
    const before = protocolOf(known)
    known[era] = known[era] || value
    if (protocolOf(known) !== before) onChange()
  }

  async function discover(): Promise<boolean> {
    const answer = await ask('server/discover', toRaw(JSON.stringify(META_2026)), {
      timeoutMs: ASK_TIMEOUT_MS,
    })
    note('stateless', answer.kind === 'result' || isRefusedAsStateless(answer))
    return serves.stateless === true
  }

  /** Asks with a ping first: some older servers exit when they get an unknown request before `initialize`. */
  async function find(): Promise<boolean> {
    const ping = await ask('ping', eras.pingParams, { timeoutMs: ASK_TIMEOUT_MS })
    if (ping.kind === 'failed') note('stateless', false)
    else eras.notePing(ping)
    return serves.stateless ?? (await discover())
  }

  const eras: ServerEras = {
    get protocol() {
      return protocolOf(known)
    },
    get legacy() {
      return serves.legacy
    },
    pingParams: toRaw(JSON.stringify(META_UNKNOWN)),
    async servesStateless() {
      if (serves.stateless !== undefined) return serves.stateless
      asking ??= find().finally(() => {
        asking = undefined
      })
      return asking
    },
    notePing(answer) {
      const stateless = judgePing(answer)
      if (stateless !== undefined) note('stateless', stateless)
    },
    async noteInitialize(answer) {
      if (answer.kind === 'failed' || fixed) return
      if (answer.kind === 'result') {
        note('legacy', true)
        // The process may serve nothing else from now on.
        if (serves.stateless) serves.stateless = undefined
        return
      }
      const code = memberValue(answer.text, 'code')
      if (NO_HANDSHAKE.has(code)) note('stateless', true)
      // A server without `initialize` may find fault with the request in another way (MCP 2026-07-28, versioning).
      else if (MALFORMED.has(code) && serves.stateless === undefined) await discover()
      if (serves.stateless) note('legacy', false)
    },
    replaced(by) {
      if (fixed) return
      const before = protocolOf(known)
      known = by === 'initialized' ? { legacy: true } : { legacy: false, stateless: true }
      serves = { ...known }
      if (protocolOf(known) !== before) onChange()
    },
    lost() {
      serves = { ...known }
    },
  }
  return eras
}
