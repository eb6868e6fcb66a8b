import type { ServerEvent } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { messageOf } from './message-of.ts'
import { readEvents } from './read-events.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000

/**
 * Listens to what happens, for as long as the page is open. A connection that is lost is made again,
 * after a pause that grows; then everything is told anew.
 */
export async function follow(
  api: Api,
  hears: {
    /** What is told from now on is the whole. */
    onOpen: () => void
    onEvent: (event: ServerEvent) => void
    onLost: (problem: string) => void
  },
): Promise<never> {
  const { onOpen, onEvent, onLost } = hears
  let pause = FIRST_PAUSE_MS
  for (;;) {
    try {
      const response = await api.stream('/api/v1beta/events', new AbortController().signal)
      onOpen()
      pause = FIRST_PAUSE_MS
      for await (const event of readEvents(response)) onEvent(event)
      onLost('The connection ended. Trying again.')
    } catch (error) {
      onLost(messageOf(error))
    }
    await new Promise(resolve => setTimeout(resolve, pause))
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  }
}
