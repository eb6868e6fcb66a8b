/** @import { Api } from './api.js' */
/** @import { Entry } from '../page-types.d.ts' */
/** @import { Chosen } from './server-form.js' */
import { element, fill } from './element.js'
import { rankEntries } from './rank-entries.js'

const SETTLE_MS = 150
const MOST = 200
/** What runs without an entry of the registry: a package, a URL, or an image with a path or a tag. */
const REFERENCE =
  /^(?:npx|uvx|go|https?):\/\/\S+$|^[\w.-]+(?::\d+)?(?:\/[\w.-]+)+(?::[\w.-]+)?(?:@sha256:\w+)?$|^[\w.-]+:[\w.-]+$/

/** @typedef {() => Promise<Chosen>} Find  reads what the registry says of a server */

/**
 * A field and the servers of the registry that match it, searched again as the user types.
 * @param {Api} api
 * @param {(find: Find) => Promise<void>} onChoose  its error is shown here
 */
export function registrySearch(api, onChoose) {
  const count = element('p', { class: 'soft', role: 'status' })
  const results = element('ul', { class: 'results' })
  const field = searchField(later)
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  let looking = new AbortController()

  function later() {
    clearTimeout(timer)
    timer = setTimeout(look, SETTLE_MS)
  }

  async function look() {
    looking.abort()
    looking = new AbortController()
    const { signal } = looking
    const wanted = field.value.trim()
    try {
      const query = new URLSearchParams({ q: wanted, limit: String(MOST) })
      const { servers, metadata } = await api.get(`/registry/default/v0.1/servers?${query}`, signal)
      if (signal.aborted) return
      const direct = REFERENCE.test(wanted) ? [directChoice(wanted, choose)] : []
      const found = rankEntries(servers, wanted)
      fill(results, ...direct, ...found.map(entry => entryChoice(api, entry, choose)))
      count.textContent = direct.length
        ? 'It can run as it is.'
        : countOf(found.length, metadata.total, wanted)
    } catch (error) {
      if (!signal.aborted) showError(error)
    }
  }

  /** @param {Find} find */
  async function choose(find) {
    count.textContent = ''
    await onChoose(find).catch(showError)
  }

  /** @param {unknown} error */
  function showError(error) {
    count.textContent = error instanceof Error ? error.message : String(error)
  }

  return {
    node: searchPane(field, count, results),
    focus: () => field.focus(),
    look,
    stop: () => looking.abort(),
  }
}

/** @param {() => void} oninput */
const searchField = oninput =>
  element('input', {
    id: 'search',
    type: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'time, github, npx://…',
    'aria-describedby': 'search-note',
    oninput,
  })

/**
 * @param {HTMLInputElement} field
 * @param {readonly HTMLElement[]} below
 */
const searchPane = (field, ...below) =>
  element(
    'div',
    {},
    element('label', { for: 'search' }, 'What do you want to run?'),
    field,
    element(
      'p',
      { class: 'soft', id: 'search-note' },
      'A word finds servers of the registry. A package (npx://, uvx://, go://), an image or a URL runs as it is.',
    ),
    ...below,
  )

/**
 * @param {string} reference
 * @param {(find: Find) => void} choose
 */
const directChoice = (reference, choose) =>
  choice(reference, 'Run it as it is, isolated, with no variables.', () =>
    choose(async () => ({ name: reference, description: '', reference })),
  )

/**
 * @param {Api} api
 * @param {Entry} entry
 * @param {(find: Find) => void} choose
 */
function entryChoice(api, entry, choose) {
  const find = async () => {
    const path = `/api/v1beta/registry/default/servers/${encodeURIComponent(entry.name)}`
    const { server, remote_server } = await api.get(path)
    return server ?? remote_server
  }
  const name = entry.title ? entry.name : undefined
  return choice(entry.title ?? entry.name, entry.description, () => choose(find), name)
}

/**
 * @param {string} title
 * @param {string} text
 * @param {() => void} onclick
 * @param {string} [name]
 */
const choice = (title, text, onclick, name) =>
  element(
    'li',
    {},
    element(
      'button',
      { type: 'button', onclick },
      element('span', { class: 'name' }, title),
      name && element('code', {}, name),
      element('span', { class: 'what' }, text),
    ),
  )

/**
 * @param {number} found
 * @param {number} total
 * @param {string} wanted
 */
function countOf(found, total, wanted) {
  if (found === 0)
    return `Nothing in the registry is called or described as “${wanted}”. Try a shorter word, or type npx:// and the name of a package.`
  const servers = found === 1 ? '1 server' : `${found} servers`
  return total > MOST ? `${servers} of many. Type more to find fewer.` : servers
}
