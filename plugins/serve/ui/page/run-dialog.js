/** @import { Api } from './api.js' */
import { openDialog } from './dialog.js'
import { element, fill } from './element.js'
import { registrySearch } from './registry-search.js'
import { serverForm } from './server-form.js'

/**
 * Searches the registry, then asks what the chosen server needs, then runs it.
 * @param {Api} api
 * @param {(name: string) => void} onRun  hears how the new workload is called
 */
export function openRunDialog(api, onRun) {
  const search = registrySearch(api, choose)
  const form = element('div', { hidden: true })
  const { dialog, heading, close } = openDialog({
    title: 'Run a server',
    kind: 'wide',
    content: [search.node, form],
  })
  dialog.addEventListener('close', search.stop)

  /** @param {import('./registry-search.js').Find} find */
  async function choose(find) {
    const chosen = await find()
    const made = await serverForm(api, chosen, { onBack: back, onRun, close })
    fill(form, made.node)
    heading.textContent = `Run ${chosen.title ?? chosen.name}`
    search.node.hidden = true
    form.hidden = false
    made.focus()
  }

  function back() {
    heading.textContent = 'Run a server'
    form.hidden = true
    search.node.hidden = false
    search.focus()
  }

  search.focus()
  void search.look()
}
