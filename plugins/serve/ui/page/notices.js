import { byId, element } from './element.js'

/**
 * Tells people who do not see the page what has changed on it.
 * @param {string} text
 */
export function announce(text) {
  byId('announcer').textContent = text
}

/**
 * Shows what went wrong, until somebody has read it.
 * @param {unknown} error
 */
export function showProblem(error) {
  const text = error instanceof Error ? error.message : String(error)
  const close = () => void notice.remove()
  /** @type {HTMLElement} */
  const notice = element(
    'div',
    { class: 'notice', role: 'alert' },
    element('p', {}, text),
    element('button', { type: 'button', class: 'quiet', onclick: close }, 'Dismiss'),
  )
  byId('notices').append(notice)
}
