/** @import { Api } from './api.js' */
/** @import { Store } from './store.js' */
/** @import { BegunLogin, LoginEnd, Workload } from '../page-types.d.ts' */
import { element, fill } from './element.js'

const IDLE = 'The login opens in another tab.'

/**
 * Offers to log in to the remote server of a workload, in another tab. Its button stays the same element, so that
 * the focus is never lost.
 * @param {Api} api
 * @param {Store} store
 * @param {string} name
 */
export function createLoginNotice(api, store, name) {
  const path = `/api/v1beta/workloads/${encodeURIComponent(name)}/login`
  const state = element('p', { role: 'status' }, IDLE)
  const place = element('div', { class: 'place' })
  const button = element('button', { type: 'button', class: 'primary', onclick: press }, 'Log in')
  const node = element('div', { class: 'login', hidden: true }, element('div', {}, state, place), button)
  let underway = false
  /** Those before the page has asked are of no interest. @type {LoginEnd | undefined} */
  let seen

  /**
   * @param {string} text
   * @param {...(Node | string)} more
   */
  function say(text, ...more) {
    button.textContent = underway ? 'Cancel' : 'Log in'
    button.classList.toggle('primary', !underway)
    if (state.textContent !== text) state.textContent = text
    fill(place, ...more)
  }

  async function press() {
    try {
      if (underway) return await cancel()
      underway = true
      seen = store.loginEndOf(name)
      say('Asking where to log in…')
      const begun = /** @type {BegunLogin} */ (await api.send('POST', path))
      if (underway) open(begun)
    } catch (error) {
      underway = false
      say(error instanceof Error ? error.message : String(error))
    }
  }

  async function cancel() {
    underway = false
    say(IDLE)
    await api.send('DELETE', path)
  }

  /** @param {BegunLogin} begun */
  function open({ state: how, url = '', user_code: code }) {
    if (how === 'done') return say('Somebody else has logged in.')
    if (!isWebAddress(url)) throw new Error('The server named no address that a browser may open.')
    // A browser may keep the tab from opening, so there is a link as well.
    window.open(url, '_blank', 'noopener,noreferrer')
    const link = element(
      'a',
      { href: url, target: '_blank', rel: 'noopener noreferrer' },
      'Open the login page',
    )
    const typed = code ? element('p', {}, 'Type this code there: ', element('code', {}, code)) : ''
    say('Waiting for you to log in, in another tab.', element('p', {}, link), typed)
  }

  return {
    node,
    /** @param {Workload} workload */
    show({ status, remote }) {
      const isNeeded = remote === true && (status === 'unauthenticated' || status === 'auth_retrying')
      const ended = store.loginEndOf(name)
      if (ended && ended !== seen) {
        seen = ended
        underway = false
        say(ended.problem ?? 'You are logged in. The server will be reached in a moment.')
      }
      if (!isNeeded && !node.hidden) {
        if (node.contains(document.activeElement)) node.closest('article')?.querySelector('h2')?.focus()
        underway = false
        say(IDLE)
      }
      node.hidden = !isNeeded
    },
  }
}

/** What a server names is opened only if it is a page. @param {string} text */
function isWebAddress(text) {
  const protocol = URL.parse(text)?.protocol
  return protocol === 'https:' || protocol === 'http:'
}
