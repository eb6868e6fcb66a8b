import { element } from './element.js'
import { announce, showProblem } from './notices.js'

const SHOWN_MS = 2000

/**
 * @param {string} text
 * @param {string} label
 */
export function copyButton(text, label) {
  const button = element(
    'button',
    { type: 'button', class: 'small', 'aria-label': label, onclick: copy },
    'Copy',
  )

  async function copy() {
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      return showProblem('The browser does not let this page copy; select the text instead.')
    }
    button.textContent = 'Copied'
    announce('Copied')
    setTimeout(() => {
      button.textContent = 'Copy'
    }, SHOWN_MS)
  }
  return button
}
