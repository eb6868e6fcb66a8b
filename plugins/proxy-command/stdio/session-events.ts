import { messageOf } from '../../../src/errors.ts'
import { listenTo } from './listening-stream.ts'
import type { StreamableSession } from './streamable-session.ts'
import type { UpstreamOptions } from './upstream.ts'

/** The event stream of the session, in whichever session there is now. */
export interface SessionEvents {
  /** Opens the event stream of the current session. */
  listen(): void
  /** Waits until a session that is being opened is open, and its event stream too, as far as the server has one. */
  ready(): Promise<void>
  close(): void
}

export function createSessionEvents(
  options: Pick<UpstreamOptions, 'requests' | 'client' | 'log'>,
  session: () => StreamableSession,
): SessionEvents {
  let listening = new AbortController()
  let streamReady = async (): Promise<void> => undefined

  return {
    listen() {
      listening.abort()
      listening = new AbortController()
      const { signal } = listening
      const mine = session().current
      const stream = listenTo(mine, options, signal)
      const ended = stream.outcome.then(
        outcome => (outcome === 'lost' ? void session().renew(mine) : undefined),
        error =>
          signal.aborted ? undefined : options.log.warn(`No events of the workload: ${messageOf(error)}`),
      )
      streamReady = stream.ready
      void ended.then(() => {
        if (streamReady === stream.ready) streamReady = async () => undefined
      })
    },
    async ready() {
      for (let seen: unknown; seen !== streamReady; ) {
        seen = streamReady
        await streamReady()
        await session().settled()
      }
    },
    close: () => listening.abort(),
  }
}
