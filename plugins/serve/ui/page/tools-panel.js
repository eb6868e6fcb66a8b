/** @import { Api } from './api.js' */
/** @import { Panel } from './tabs.js' */
/** @import { Tool, Workload } from '../page-types.d.ts' */
import { element, fill } from './element.js'
import { parametersOf } from './tool-parameters.js'

/**
 * The tools that the server of a workload offers; asked for once each time it comes up.
 * @param {Api} api
 * @param {() => Workload | undefined} workload
 * @returns {Panel}
 */
export function createToolsPanel(api, workload) {
  const node = element('div', { class: 'tools' })
  let asked = ''
  let ending = new AbortController()

  /** @param {string} name */
  async function load(name) {
    ending = new AbortController()
    const { signal } = ending
    fill(node, element('p', { class: 'empty' }, 'Asking the server…'))
    try {
      const { tools } = await api.get(`/api/v1beta/workloads/${encodeURIComponent(name)}/tools`, signal)
      if (signal.aborted) return
      if (tools.length) fill(node, element('ul', {}, .../** @type {Tool[]} */ (tools).map(describe)))
      else fill(node, element('p', { class: 'empty' }, 'This server offers no tools.'))
    } catch (error) {
      if (signal.aborted) return
      const again = element('button', { type: 'button', onclick: () => void load(name) }, 'Ask again')
      fill(
        node,
        element('p', { class: 'empty' }, error instanceof Error ? error.message : String(error)),
        again,
      )
    }
  }

  return {
    node,
    show() {
      const now = workload()
      if (!now) return
      const wanted = `${now.status} ${now.started_at}`
      if (wanted === asked) return
      asked = wanted
      ending.abort()
      if (now.status === 'running') void load(now.name)
      else fill(node, element('p', { class: 'empty' }, 'The tools are listed here while the server runs.'))
    },
    hide() {
      if (!node.querySelector('ul')) asked = ''
      ending.abort()
    },
  }
}

/** @param {Tool} tool */
function describe({ name, title, description, inputSchema }) {
  const text = description?.trim() ?? ''
  return element(
    'li',
    {},
    element(
      'details',
      {},
      element(
        'summary',
        {},
        element('code', {}, name),
        element('span', { class: 'brief' }, text.split('\n', 1)[0] || title || ''),
      ),
      text
        ? element('p', { class: 'said' }, text)
        : element('p', { class: 'soft' }, 'It has no description.'),
      parametersOf(inputSchema),
    ),
  )
}
