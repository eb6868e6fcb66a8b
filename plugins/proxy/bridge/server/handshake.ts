import { memberValue, mergeRaw } from '../../../../src/lib/raw-json.ts'
import { INITIALIZE_2025 } from '../../revisions/index.ts'
import { type Capabilities, toCapabilities } from '../clients/client-sessions.ts'
import { withCapabilitiesOf, withOnlyCapabilitiesOf } from '../clients/told-capabilities.ts'
import { agreeVersion } from './agree-version.ts'
import type { Answer, AskServer } from './ask-server.ts'
import type { ServerEras } from './server-eras.ts'

interface Agreement {
  readonly version: string
  /** Whether the server has tasks (MCP 2025-11-25). */
  readonly hasTasks: boolean
  readonly result: string
}

/** The one `initialize` of a server process, shared by all clients (MCP lifecycle). */
export interface Handshake {
  /**
   * Initialises with the parameters of a client, or returns the result of the first time, in the version that this
   * client asked for. Errors are not kept.
   */
  initialize(paramsText: string): Promise<Answer>
  /**
   * Initialises for clients without a session: with members of `initialize` that such a client has stated, all others
   * are of keelson.
   */
  ensure(statedText?: string): Promise<Answer>
  /** The protocol version and the result of `initialize`; undefined before. */
  readonly agreed: Agreement | undefined
  /** Whether this server process or one before it has been initialised. */
  readonly known: boolean
  /** The capabilities that the server process was told; undefined before. */
  readonly told: Capabilities | undefined
  /** Called for each `notifications/initialized`. True for the first, which is sent to the server. */
  initialized(): boolean
  /**
   * Initialises a new server process as the one before, for the clients that are connected. False when it fails, or
   * none was initialised before.
   */
  replay(): Promise<boolean>
  /** The parameters that a candidate is initialised with. */
  readonly offer: string
  /** Takes over the result with which a promoted candidate responded to `offer`; undefined for a modern server. */
  adopt(resultText: string | undefined): void
  /** The next client initialises the next process, with its own parameters. */
  forget(): void
  /** Called when the server process has gone. */
  lost(): void
}

const REPLAY_TIMEOUT_MS = 30_000
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}'

const OWN_PARAMS = JSON.stringify(INITIALIZE_2025)

interface HandshakeOptions {
  readonly ask: AskServer
  readonly eras: ServerEras
  readonly write: (text: string) => boolean
  /** Of the clients that are connected. */
  readonly capabilities: () => readonly Capabilities[]
}

export function createHandshake({ ask, eras, write, capabilities }: HandshakeOptions): Handshake {
  let running: Promise<Answer> | undefined
  let agreed: Agreement | undefined
  let sentParams: string | undefined
  let initializedSent = false

  async function run(params: string, timeout: { timeoutMs?: number } = {}): Promise<Answer> {
    const answer = await ask('initialize', params, timeout)
    await eras.noteInitialize(answer)
    running = undefined
    if (answer.kind === 'result') agree(params, answer.text)
    return answer
  }

  function agree(params: string, resultText: string): void {
    const version = memberValue(resultText, 'protocolVersion')
    agreed = {
      version: typeof version === 'string' ? version : INITIALIZE_2025.protocolVersion,
      hasTasks: toCapabilities(memberValue(resultText, 'capabilities')).tasks !== undefined,
      result: resultText,
    }
    sentParams = params
  }

  async function initialize(paramsText: string): Promise<Answer> {
    const shared = () => {
      running ??= run(withCapabilitiesOf(capabilities(), paramsText))
      return running
    }
    const answer = agreed ? ({ kind: 'result', text: agreed.result } as const) : await shared()
    if (answer.kind !== 'result') return answer
    return { ...answer, text: agreeVersion(answer.text, { asked: paramsText, first: sentParams ?? '{}' }) }
  }

  const handshake: Handshake = {
    initialize,
    async ensure(statedText = '{}') {
      const answer = await initialize(mergeRaw(OWN_PARAMS, statedText))
      if (answer.kind === 'result' && handshake.initialized()) write(INITIALIZED)
      return answer
    },
    get agreed() {
      return agreed
    },
    get known() {
      return sentParams !== undefined
    },
    get told() {
      return agreed && toCapabilities(memberValue(sentParams ?? '{}', 'capabilities'))
    },
    initialized() {
      const first = !initializedSent
      initializedSent = true
      return first
    },
    async replay() {
      if (sentParams === undefined) return false
      running ??= run(withOnlyCapabilitiesOf(capabilities(), sentParams), { timeoutMs: REPLAY_TIMEOUT_MS })
      const answer = await running
      if (answer.kind !== 'result') {
        handshake.forget()
        return false
      }
      if (initializedSent) write(INITIALIZED)
      return true
    },
    get offer() {
      const clients = capabilities()
      const params = sentParams ?? OWN_PARAMS
      return clients.length === 0 ? params : withOnlyCapabilitiesOf(clients, params)
    },
    adopt(resultText) {
      running = undefined
      eras.replaced(resultText === undefined ? 'modern' : 'initialized')
      if (resultText !== undefined) {
        agree(handshake.offer, resultText)
        initializedSent = true
        return
      }
      agreed = undefined
      handshake.forget()
    },
    forget() {
      sentParams = undefined
      initializedSent = false
    },
    lost() {
      agreed = undefined
    },
  }
  return handshake
}
