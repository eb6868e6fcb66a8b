import { render } from 'preact'
import type { Workload } from '../page-types.d.ts'
import { Actions } from './actions.tsx'
import type { Api } from './api.ts'
import { Connect } from './connect-panel.tsx'
import { Facts } from './facts.tsx'
import { Log } from './log-panel.tsx'
import { LoginNotice } from './login-notice.tsx'
import { PaneNotices } from './pane-notices.tsx'
import { Permissions } from './permissions-panel.tsx'
import { Prompts } from './prompts-panel.tsx'
import { Resources } from './resources-panel.tsx'
import { StatusBadge } from './status.tsx'
import type { Store } from './store.ts'
import { type Tab, Tabs } from './tabs.tsx'
import { Tools } from './tools-panel.tsx'
import { UpgradeNotice } from './upgrade-notice.tsx'

/** All about one workload. `reopen`: what a lost connection carried is opened anew. */
export function createPane(api: Api, store: Store, name: string) {
  const node = document.createElement('article')
  let connection = 0
  let drawn = ''

  function show() {
    const workload = store.find(name)
    if (!workload) return
    const all = [workload, store.upgradeOf(name), store.denialsOf(name), store.rollbackOf(name)]
    const now = JSON.stringify([...all, store.loginEndOf(name), connection])
    if (now === drawn) return
    drawn = now
    render(<Pane {...{ api, store, workload, connection }} />, node)
  }
  return {
    node,
    show,
    heading: { focus: () => node.querySelector('h2')?.focus() },
    reopen() {
      connection++
      show()
    },
    close: () => render(null, node),
  }
}

function Pane(props: { api: Api; store: Store; workload: Workload; connection: number }) {
  const { api, store, workload, connection } = props
  const { name, remote } = workload
  const upgrade = store.upgradeOf(name)
  const panel = (Content: typeof Tools) => (isSeen: boolean) => (
    <Content {...{ api, workload, isSeen, connection }} />
  )
  const log = (which: 'logs' | 'proxy-logs') => (isSeen: boolean) => (
    <Log {...{ api, workload, isSeen, connection, which }} />
  )
  const tabs: Tab[] = [
    { title: 'Tools', panel: panel(Tools) },
    { title: 'Resources', panel: panel(Resources) },
    { title: 'Prompts', panel: panel(Prompts) },
    { title: 'Connect', panel: isSeen => isSeen && <Connect {...{ api, workload }} /> },
    { title: 'Permissions', panel: panel(Permissions) },
    ...(remote ? [] : [{ title: 'Log', panel: log('logs') }]),
    { title: 'Proxy log', panel: log('proxy-logs') },
  ]
  return (
    <>
      <p class="back">
        <a href="#/">All workloads</a>
      </p>
      <div class="head">
        <h2 tabIndex={-1}>{name}</h2>
        <StatusBadge status={workload.status} />
        <Actions {...{ api, store, workload }} />
      </div>
      <PaneNotices {...{ store, workload }} />
      {upgrade?.status === 'upgrade-available' && <UpgradeNotice {...{ api, store, upgrade }} />}
      <LoginNotice {...{ api, store, workload }} />
      <Facts workload={workload} />
      <Tabs label="About this workload" tabs={tabs} />
    </>
  )
}
