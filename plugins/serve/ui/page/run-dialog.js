/** @import { Api } from './api.js' */
/** @import { Entry } from '../page-types.d.ts' */
import { openDialog } from './dialog.js'
import { element, fill } from './element.js'
import { rankEntries } from './rank-entries.js'
import { serverForm } from './server-form.js'

const SETTLE_MS = 150
const MOST = 200
/** What runs without an entry of the registry: a package, a URL, or an image with a path or a tag. */
const REFERENCE =
  /^(?:npx|uvx|go|https?):\/\/\S+$|^[\w.-]+(?::\d+)?(?:\/[\w.-]+)+(?::[\w.-]+)?(?:@sha256:\w+)?$|^[\w.-]+:[\w.-]+$/

/**
 * Searches the registry, then asks what the chosen server needs, then runs it.
 * @param {Api} api
 * @param {(name: string) => void} onRun  hears how the new workload is called
 */
export function openRunDialog(api, onRun) {
  const count = element('p', { class: 'soft', role: 'status' })
  const results = element('ul', { class: 'results' })
  const field = element('input', {
    id: 'search',
    type: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'time, github, npx://…',
    'aria-describedby': 'search-note',
    oninput: later,
  })
  const search = element(
    'div',
    {},
    element('label', { for: 'search' }, 'What do you want to run?'),
    field,
    element(
      'p',
      { class: 'soft', id: 'search-note' },
      'A word finds servers of the registry. A package (npx://, uvx://, go://), an image or a URL runs as it is.',
    ),
    count,
    results,
  )
  const form = element('div', { hidden: true })
  const { dialog, heading, close } = openDialog({
    title: 'Run a server',
    kind: 'wide',
    content: [search, form],
  })
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  let looking = new AbortController()
  dialog.addEventListener('close', () => looking.abort())

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
      const direct = REFERENCE.test(wanted) ? [runAsItIs(wanted)] : []
      const found = rankEntries(servers, wanted)
      fill(results, ...direct, ...found.map(describe))
      count.textContent = direct.length
        ? 'It can run as it is.'
        : countOf(found.length, metadata.total, wanted)
    } catch (error) {
      if (!signal.aborted) count.textContent = error instanceof Error ? error.message : String(error)
    }
  }

  /** @param {string} reference */
  const runAsItIs = reference =>
    choice(reference, 'Run it as it is, isolated, with no variables.', async () => ({
      name: reference,
      description: '',
      reference,
    }))

  /** @param {Entry} entry */
  const describe = entry =>
    choice(
      entry.title ?? entry.name,
      entry.description,
      async () => {
        const path = `/api/v1beta/registry/default/servers/${encodeURIComponent(entry.name)}`
        const { server, remote_server } = await api.get(path)
        return server ?? remote_server
      },
      entry.title ? entry.name : undefined,
    )

  /**
   * @param {string} title
   * @param {string} text
   * @param {() => Promise<import('./server-form.js').Chosen>} find
   * @param {string} [name]
   */
  const choice = (title, text, find, name) =>
    element(
      'li',
      {},
      element(
        'button',
        { type: 'button', onclick: () => choose(find) },
        element('span', { class: 'name' }, title),
        name && element('code', {}, name),
        element('span', { class: 'what' }, text),
      ),
    )

  /** @param {() => Promise<import('./server-form.js').Chosen>} find */
  async function choose(find) {
    count.textContent = ''
    try {
      const chosen = await find()
      const made = await serverForm(api, chosen, { onBack: back, onRun, close })
      fill(form, made.node)
      heading.textContent = `Run ${chosen.title ?? chosen.name}`
      search.hidden = true
      form.hidden = false
      made.focus()
    } catch (error) {
      count.textContent = error instanceof Error ? error.message : String(error)
    }
  }

  function back() {
    heading.textContent = 'Run a server'
    form.hidden = true
    search.hidden = false
    field.focus()
  }

  field.focus()
  void look()
}

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
