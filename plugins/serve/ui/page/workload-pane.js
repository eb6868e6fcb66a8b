/** @import { Api } from './api.ts' */
/** @import { Store } from './store.ts' */
/** @import { Denial, Workload } from '../page-types.d.ts' */
import { h, render } from 'preact'
import { Actions } from './actions.tsx'
import { createConnectPanel } from './connect-panel.tsx'
import { CopyButton } from './copy-button.tsx'
import { element, fill } from './element.js'
import { createLogPanel } from './log-panel.tsx'
import { LoginNotice } from './login-notice.tsx'
import { StatusBadge } from './status.tsx'
import { createTabs } from './tabs.js'
import { createToolsPanel } from './tools-panel.tsx'
import { UpgradeNotice } from './upgrade-notice.tsx'

/**
 * All about one workload. Its parts are made once and told of every change.
 * @param {Api} api
 * @param {Store} store
 * @param {string} name
 */
export function createPane(api, store, name) {
  const workload = () => store.find(name)
  const heading = element('h2', { tabindex: '-1' }, name)
  const badge = element('div', { class: 'badge' })
  const actions = element('div', {})
  const notices = element('div', {})
  const upgrades = element('div', {})
  const login = element('div', {})
  const facts = element('dl', { class: 'facts' })
  const tools = createToolsPanel(api, workload)
  const tabs = createTabs('About this workload', [
    { title: 'Tools', panel: tools },
    ...(workload()?.remote ? [] : [{ title: 'Log', panel: createLogPanel(api, workload, 'logs') }]),
    { title: 'Proxy log', panel: createLogPanel(api, workload, 'proxy-logs') },
    { title: 'Connect', panel: createConnectPanel(api, workload) },
  ])
  const node = element(
    'article',
    {},
    element('p', { class: 'back' }, element('a', { href: '#' }, 'All workloads')),
    element('div', { class: 'head' }, heading, badge, actions),
    notices,
    upgrades,
    login,
    facts,
    tabs.node,
  )
  let said = ''

  return {
    node,
    heading,
    show() {
      const now = workload()
      if (!now) return
      const upgrade = store.upgradeOf(name)
      const denials = store.denialsOf(name)
      const rollback = store.rollbackOf(name)
      render(h(LoginNotice, { api, store, workload: now }), login)
      const text = JSON.stringify([now, upgrade, denials, rollback])
      if (text === said) return
      said = text
      render(h(StatusBadge, { status: now.status }), badge)
      render(h(Actions, { api, store, workload: now }), actions)
      const isNews = upgrade?.status === 'upgrade-available'
      render(isNews ? h(UpgradeNotice, { api, store, upgrade }) : null, upgrades)
      fill(
        notices,
        now.status_context && element('p', { class: 'context' }, now.status_context),
        denials.some(({ host }) => host) && deniedNotice(denials),
        rollback &&
          element(
            'p',
            { class: 'context' },
            `It was not upgraded to ${rollback.to ?? 'the newer version'}, and serves as before. ${rollback.reason ?? ''}`,
          ),
      )
      fillFacts(facts, now)
      tabs.show()
    },
    /** After the connection was lost, what it carried is opened anew. */
    reopen() {
      tabs.close()
      tabs.show()
    },
    close() {
      tabs.close()
      tools.end()
    },
  }
}

/**
 * The copy button keeps its place, and the focus, while the rest changes.
 * @param {HTMLElement} list
 * @param {Workload} workload
 */
function fillFacts(
  list,
  {
    url,
    package: what,
    transport_type,
    proxy_mode: spoken = transport_type,
    group,
    started_at,
    remote,
    no_sandbox,
  },
) {
  const url_ = list.querySelector('code')?.textContent === url ? list.firstElementChild : undefined
  const started = new Date(started_at)
  const rows = [
    fact(remote ? 'Runs at' : 'Package', what),
    fact(
      'Transport',
      spoken === transport_type ? spoken : `${spoken} (the server itself: ${transport_type})`,
    ),
    no_sandbox ? fact('Sandbox', 'none: it can read, change and reach all that you can') : undefined,
    group && group !== 'default' ? fact('Group', group) : undefined,
    started.getFullYear() > 1 ? fact('Up since', started.toLocaleString()) : undefined,
  ].filter(row => row !== undefined)
  if (url_) {
    while (list.children.length > 1) list.lastElementChild?.remove()
    list.append(...rows)
    return
  }
  const copy = element('span')
  render(h(CopyButton, { text: () => url, label: 'Copy the URL' }), copy)
  const address = element('dd', { class: 'address' }, element('code', {}, url), copy)
  fill(list, element('div', {}, element('dt', {}, 'URL'), address), ...rows)
}

/**
 * @param {string} term
 * @param {string} value
 */
const fact = (term, value) => element('div', {}, element('dt', {}, term), element('dd', {}, value))

/** @param {readonly Denial[]} denials */
function deniedNotice(denials) {
  const places = new Set(denials.flatMap(({ host, port }) => (host ? [`${host}:${port}`] : [])))
  return element(
    'p',
    { class: 'context' },
    `It tried to reach ${[...places].join(', ')} and was denied. The proxy log says what to allow.`,
  )
}
