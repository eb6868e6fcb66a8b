/** @import { Api } from './api.js' */
/** @import { ServerEvent } from '../page-types.d.ts' */
import { readEvents } from './read-events.js'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000

/**
 * Listens to what happens, for as long as the page is open. A connection that is lost is made again,
 * after a pause that grows; then everything is told anew.
 * @param {Api} api
 * @param {object} hears
 * @param {() => void} hears.onOpen  what is told from now on is the whole
 * @param {(event: ServerEvent) => void} hears.onEvent
 * @param {(problem: string) => void} hears.onLost
 */
export async function follow(api, { onOpen, onEvent, onLost }) {
  let pause = FIRST_PAUSE_MS
  for (;;) {
    try {
      const response = await api.stream('/api/v1beta/events', new AbortController().signal)
      onOpen()
      pause = FIRST_PAUSE_MS
      for await (const event of readEvents(response)) onEvent(event)
      onLost('The connection ended. Trying again.')
    } catch (error) {
      onLost(error instanceof Error ? error.message : String(error))
    }
    await new Promise(resolve => setTimeout(resolve, pause))
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  }
}
