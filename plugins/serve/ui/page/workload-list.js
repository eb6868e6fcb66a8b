/** @import { Store } from './store.js' */
/** @import { Workload } from '../page-types.d.ts' */
import { element, fill } from './element.js'
import { statusBadge } from './status.js'

/** Where a workload is shown on this page. @param {string} name */
export const placeOf = name => `#/${encodeURIComponent(name)}`

/**
 * The list of workloads. Rows stay the same elements while what they say changes, so that the focus
 * is never lost.
 * @param {Element} place
 * @param {Store} store
 */
export function createList(place, store) {
  /** @type {Map<string, HTMLAnchorElement>} */
  const rows = new Map()
  const list = element('ul', { class: 'workloads', onkeydown: moveFocus })

  /** @param {Workload} workload */
  function rowOf({ name }) {
    const row = rows.get(name) ?? element('a', { href: placeOf(name) })
    rows.set(name, row)
    return row
  }

  /** @param {string} selected */
  return function show(selected) {
    const workloads = store.workloads()
    if (!workloads.length) {
      rows.clear()
      return fill(place, store.isListed() ? emptyState() : element('p', { class: 'empty' }, 'Loading…'))
    }
    for (const workload of workloads) {
      const row = rowOf(workload)
      const said = JSON.stringify([workload, store.upgradeOf(workload.name)?.status])
      if (row.dataset.said !== said) {
        row.dataset.said = said
        fill(row, ...describe(workload, store.upgradeOf(workload.name)?.status === 'upgrade-available'))
      }
      if (workload.name === selected) row.setAttribute('aria-current', 'true')
      else row.removeAttribute('aria-current')
    }
    const there = new Set(workloads.map(({ name }) => name))
    for (const name of [...rows.keys()]) if (!there.has(name)) rows.delete(name)
    placeInOrder(list, workloads.map(rowOf))
    if (list.parentElement !== place) fill(place, list)
  }
}

/**
 * @param {Workload} workload
 * @param {boolean} hasUpgrade
 */
const describe = ({ name, package: what, status, group, no_sandbox }, hasUpgrade) => [
  element('span', { class: 'name' }, name),
  statusBadge(status),
  element('span', { class: 'what' }, group && group !== 'default' ? `${what} · ${group}` : what),
  no_sandbox && element('span', { class: 'tag' }, 'No sandbox'),
  hasUpgrade && element('span', { class: 'tag' }, 'Upgrade'),
]

const emptyState = () =>
  element(
    'div',
    { class: 'empty' },
    element('p', { class: 'lead' }, 'No workloads yet.'),
    element('p', {}, 'Choose “Run a server” and search for what you need: “time”, “github”, “files”.'),
    element('p', {}, 'Or, in a terminal:'),
    element('pre', {}, element('code', {}, 'keelson run time')),
  )

/**
 * @param {HTMLElement} list
 * @param {readonly HTMLAnchorElement[]} rows
 */
function placeInOrder(list, rows) {
  rows.forEach((row, index) => {
    const item = row.parentElement ?? element('li', {}, row)
    if (list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null)
  })
  while (list.children.length > rows.length) list.lastElementChild?.remove()
}

/**
 * The arrow keys go from row to row, beside Tab.
 * @param {Event} event
 */
function moveFocus(event) {
  const key = event instanceof KeyboardEvent ? event.key : ''
  if (key !== 'ArrowDown' && key !== 'ArrowUp') return
  const item = document.activeElement?.closest('li')
  const next = key === 'ArrowDown' ? item?.nextElementSibling : item?.previousElementSibling
  next?.querySelector('a')?.focus()
  event.preventDefault()
}
