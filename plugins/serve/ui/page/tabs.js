import { element } from './element.js'

/**
 * A part of the pane that is shown when its tab is chosen.
 * @typedef {object} Panel
 * @property {HTMLElement} node
 * @property {() => void} show  called when it comes to be seen, and on changes while it is
 * @property {() => void} hide
 */

/**
 * Tabs as the ARIA Authoring Practices describe them: one stop for Tab, arrow keys between.
 * @param {string} label
 * @param {readonly { title: string, panel: Panel }[]} parts
 */
export function createTabs(label, parts) {
  let chosen = 0
  const tabs = parts.map(({ title }, index) =>
    element(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `tab-${index}`,
        'aria-controls': `panel-${index}`,
        onclick: () => choose(index),
      },
      title,
    ),
  )
  const panels = parts.map(({ panel }, index) =>
    element('div', { role: 'tabpanel', id: `panel-${index}`, 'aria-labelledby': `tab-${index}` }, panel.node),
  )

  /** @param {number} index */
  function choose(index) {
    if (index !== chosen) parts[chosen]?.panel.hide()
    chosen = index
    tabs.forEach((tab, place) => {
      tab.ariaSelected = String(place === index)
      tab.tabIndex = place === index ? 0 : -1
    })
    panels.forEach((panel, place) => {
      panel.hidden = place !== index
    })
    parts[index]?.panel.show()
  }

  /** @param {Event} event */
  function moveFocus(event) {
    const key = event instanceof KeyboardEvent ? event.key : ''
    const last = tabs.length - 1
    /** @type {Record<string, number>} */
    const targets = {
      ArrowRight: chosen === last ? 0 : chosen + 1,
      ArrowLeft: chosen === 0 ? last : chosen - 1,
      Home: 0,
      End: last,
    }
    const target = targets[key]
    if (target === undefined) return
    event.preventDefault()
    choose(target)
    tabs[target]?.focus()
  }

  return {
    node: element(
      'div',
      { class: 'tabs' },
      element('div', { role: 'tablist', 'aria-label': label, onkeydown: moveFocus }, ...tabs),
      ...panels,
    ),
    show: () => choose(chosen),
    close: () => parts[chosen]?.panel.hide(),
  }
}
