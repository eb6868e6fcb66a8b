/** @import { Api } from './api.js' */
/** @import { Panel } from './tabs.js' */
/** @import { Workload } from '../page-types.d.ts' */
import { element } from './element.js'
import { logLine } from './log-line.js'
import { plainText } from './plain-text.js'
import { readEvents } from './read-events.js'

const MOST_LINES = 2000
const LONGEST = 65_536
const NEAR_END_PX = 24

/**
 * A log that follows while its end is in sight, and stays where it is when one has scrolled up.
 * @param {Api} api
 * @param {() => Workload | undefined} workload
 * @param {'logs' | 'proxy-logs'} which
 * @returns {Panel}
 */
export function createLogPanel(api, workload, which) {
  const state = element('p', { class: 'log-state', role: 'status' })
  const lines = element('pre', {
    class: 'log',
    tabindex: '0',
    role: 'log',
    'aria-live': 'off',
    'aria-label': which === 'logs' ? 'Log of the server' : 'Log of the proxy',
  })
  const node = element('div', {}, state, lines)
  /** @type {AbortController | undefined} */
  let reading
  let opened = ''

  /** What came of a line whose end is still to come. */
  let begun = ''

  /** @param {string} text */
  function append(text) {
    const follows = lines.scrollHeight - lines.scrollTop - lines.clientHeight < NEAR_END_PX
    const parts = (begun + text).split('\n')
    begun = parts.pop() ?? ''
    if (begun.length > LONGEST) {
      parts.push(begun)
      begun = ''
    }
    for (const part of parts.slice(-MOST_LINES)) lines.append(`${plainText(logLine(part))}\n`)
    while (lines.childNodes.length > MOST_LINES) lines.firstChild?.remove()
    if (follows) lines.scrollTop = lines.scrollHeight
  }

  /** @param {string} name */
  async function read(name) {
    reading?.abort()
    reading = new AbortController()
    const { signal } = reading
    lines.replaceChildren()
    begun = ''
    state.textContent = 'Opening the log'
    try {
      const response = await api.stream(
        `/api/v1beta/workloads/${encodeURIComponent(name)}/${which}/stream`,
        signal,
      )
      state.textContent = 'Follows what is printed'
      let ended = false
      for await (const { name: kind, data } of readEvents(response)) {
        if (kind === 'log') append(String(data))
        ended = kind === 'end'
      }
      state.textContent = ended ? 'The log ends here' : 'The connection was lost'
    } catch (error) {
      if (!signal.aborted) state.textContent = plainText(error instanceof Error ? error.message : error)
    }
  }

  return {
    node,
    show() {
      const now = workload()
      // A server that comes up has a new log; one that goes down keeps what it has printed in sight.
      const wanted = now?.status === 'running' ? now.started_at : opened || 'none'
      if (!now || wanted === opened) return
      opened = wanted
      void read(now.name)
    },
    hide() {
      opened = ''
      reading?.abort()
    },
  }
}
