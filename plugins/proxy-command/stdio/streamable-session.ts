import type { Dispatcher } from 'undici'
import { messageOf } from '../../../src/errors.ts'
import { readMessage } from '../../../src/net/rpc-message.ts'
import { describeRefusal, eventsOf, isSuccess } from './response-messages.ts'
import { agreedVersion } from './session-memory.ts'
import type { UpstreamOptions } from './upstream.ts'

/** What the workload knows a session by. */
export interface SessionState {
  readonly id: string | undefined
  readonly version: string | undefined
}

/** The session of streamable HTTP behind one stdio client. */
export interface StreamableSession {
  readonly current: SessionState
  /** Waits until a new session has been opened, if that is under way. */
  settled(): Promise<void>
  /** Takes the session that a response to the client's own `initialize` began. */
  opened(response: Dispatcher.ResponseData): void
  agreed(version: string | undefined): void
  /** Opens a new session in the place of one that the workload has lost. False: the server refuses it. */
  renew(lost: SessionState): Promise<boolean>
}

export const POST_HEADERS = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
} as const

export const headersOf = ({ id, version }: SessionState): Record<string, string> => ({
  ...(id === undefined ? {} : { 'mcp-session-id': id }),
  ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
})

/** @param options.onRenewed called with the new session, which has no event stream yet */
export function createStreamableSession(
  options: UpstreamOptions & { signal: AbortSignal; onRenewed: () => void },
): StreamableSession {
  const { requests, client, memory, log, signal, onRenewed } = options
  let current: SessionState = { id: undefined, version: undefined }
  let renewing: Promise<boolean> | undefined

  const post = (body: string, session: SessionState) =>
    requests.send({ method: 'POST', headers: { ...POST_HEADERS, ...headersOf(session) }, body, signal })

  /** The response to a request of ours; what comes besides it is for the client. */
  async function readResponse(response: Dispatcher.ResponseData): Promise<string> {
    if (!isSuccess(response)) throw new Error(await describeRefusal(response))
    for await (const { data } of eventsOf(response)) {
      if (data === undefined) continue
      const message = readMessage(data)
      if (message?.kind === 'response' && memory.isOwn(message.idText)) return data
      await client.deliver(data)
    }
    throw new Error('the server did not respond')
  }

  async function open(): Promise<boolean> {
    let next: SessionState = { id: undefined, version: undefined }
    try {
      await memory.replay(
        async ({ text, method }) => {
          const response = await post(text, next)
          if (method !== 'initialize') return readResponse(response)
          const id = idIn(response)
          const answer = await readResponse(response)
          next = { id, version: agreedVersion(answer) }
          return answer
        },
        async ({ text }) => {
          const response = await post(text, next)
          if (!isSuccess(response)) throw new Error(await describeRefusal(response))
          await response.body.dump()
        },
      )
    } catch (error) {
      log.warn(`The workload lost the session, and no new one could be opened: ${messageOf(error)}`)
      return false
    }
    current = next
    log.info('The workload lost the session; a new one was opened.')
    onRenewed()
    return true
  }

  return {
    get current() {
      return current
    },
    settled: async () => void (await renewing),
    opened(response) {
      current = { id: idIn(response), version: undefined }
    },
    agreed(version) {
      current = { ...current, version }
    },
    renew(lost) {
      if (current.id !== lost.id) return Promise.resolve(true)
      renewing ??= open().finally(() => {
        renewing = undefined
      })
      return renewing
    },
  }
}

function idIn({ headers }: Dispatcher.ResponseData): string | undefined {
  const id = headers['mcp-session-id']
  return typeof id === 'string' ? id : undefined
}
