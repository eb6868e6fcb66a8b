import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../src/errors.ts'
import { type Message, readMessage } from '../../../src/net/rpc-message.ts'
import { describeRefusal, eventsOf, isEventStream, isSuccess } from './response-messages.ts'
import type { UpstreamOptions } from './upstream.ts'
import type { WorkloadAddress } from './workload-address.ts'
import { describeProblem, LOST } from './workload-requests.ts'

const PAUSE_MS = 1000
/** How long a message waits for a connection, in milliseconds. */
const PATIENCE_MS = 60_000

/** The event stream of HTTP+SSE, opened again whenever it breaks. */
export interface SseConnection {
  /** How many connections there were. */
  readonly generation: number
  /** Where messages are posted, once the session continues that of the client. Throws when that takes too long. */
  endpoint(): Promise<URL>
  /** Delivers a message of the workload, unless it is the response to a request of ours. */
  receive(data: string): Promise<void>
}

/** A connection whose endpoint is known. */
type Ready = PromiseWithResolvers<URL>

export function createSseConnection(
  options: Pick<UpstreamOptions, 'requests' | 'client' | 'memory' | 'log'> & {
    address: WorkloadAddress
    post: (url: URL, body: string) => ReturnType<UpstreamOptions['requests']['send']>
    signal: AbortSignal
    onLost: () => void
  },
): SseConnection {
  const { requests, client, memory, log, address, post, signal, onLost } = options
  const own = new Map<string, (text: string) => void>()
  let ready: Ready = pending()
  let generation = 0
  let problem = 'nothing listens there'

  async function tell(url: URL, { text }: Message): Promise<void> {
    const response = await post(url, text)
    if (!isSuccess(response)) throw new Error(await describeRefusal(response))
    await response.body.dump()
  }

  /** Makes the session of a new connection continue the one before. */
  async function restore(url: URL, mine: Ready): Promise<void> {
    try {
      await memory.replay(
        async request => {
          const answer = Promise.withResolvers<string>()
          own.set(request.idText, answer.resolve)
          await tell(url, request)
          return Promise.race([answer.promise, mine.promise.then(() => '')])
        },
        message => tell(url, message),
      )
      if (memory.known) log.info('The workload lost the session; a new one was opened.')
    } catch (error) {
      log.warn(`The workload lost the session, and no new one could be opened: ${messageOf(error)}`)
    }
    mine.resolve(url)
  }

  async function receive(data: string): Promise<void> {
    const message = readMessage(data)
    const isOwn = message?.kind === 'response' && memory.isOwn(message.idText)
    if (isOwn && message.idText !== undefined) own.get(message.idText)?.(data)
    else await client.deliver(data)
  }

  async function connect(): Promise<void> {
    const response = await requests.send({ method: 'GET', headers: { accept: 'text/event-stream' }, signal })
    if (!isSuccess(response) || !isEventStream(response)) throw new Error(await describeRefusal(response))
    let isAnnounced = false
    for await (const { type, data } of eventsOf(response)) {
      if (!data) continue
      if (type !== 'endpoint') await receive(data)
      else if (!isAnnounced) void restore(endpointOf(data, address.url), ready)
      isAnnounced ||= type === 'endpoint'
    }
  }

  async function keepConnected(): Promise<void> {
    while (!signal.aborted) {
      try {
        await connect()
        problem = 'the connection broke'
      } catch (error) {
        problem = describeProblem(error)
      }
      if (signal.aborted) return
      log.debug(`The event stream of the workload ended: ${problem}`)
      ready.reject(new Error(LOST))
      ready = pending()
      generation += 1
      own.clear()
      onLost()
      await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  void keepConnected()

  return {
    get generation() {
      return generation
    },
    receive,
    async endpoint() {
      const waiting = new AbortController()
      try {
        const late = delay(PATIENCE_MS, undefined, { signal: AbortSignal.any([waiting.signal, signal]) })
        const found = await Promise.race([ready.promise, late])
        if (!found) throw new Error(`The workload cannot be reached: ${problem}`)
        return found
      } finally {
        waiting.abort()
      }
    },
  }
}

function pending(): Ready {
  const ready = Promise.withResolvers<URL>()
  ready.promise.catch(() => undefined)
  return ready
}

/** The announced endpoint. It must not lead to another server, which would get the caller token. */
function endpointOf(announced: string, base: URL): URL {
  const url = URL.parse(announced.trim(), base.href)
  if (url?.origin === base.origin) return url
  throw new Error('the workload announced an endpoint at another address')
}
