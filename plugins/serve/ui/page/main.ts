import './show-plain-text.ts'
import type { Workload } from '../page-types.d.ts'
import { createApi, Refusal } from './api.ts'
import { askToken } from './ask-token.tsx'
import { byId } from './by-id.ts'
import { follow } from './follow.ts'
import { drawNothing } from './nothing-shown.tsx'
import { announce, showProblem } from './notices.tsx'
import { createLogin } from './own-login.ts'
import { showPage } from './pages.tsx'
import { placeOf } from './place-of.ts'
import { openRunDialog } from './run-dialog.tsx'
import { openSecretsDialog } from './secrets-dialog.tsx'
import { statusWord } from './status.tsx'
import { createStore } from './store.ts'
import { createList } from './workload-list.tsx'
import { createPane } from './workload-pane.tsx'

const logIn = createLogin()
const api = createApi(kind => (kind === 'login' ? logIn() : askToken(kind)))
const store = createStore(api)
const showList = createList(byId('list'), api, store)
let shown: { name: string; pane: ReturnType<typeof createPane> } | undefined
/** A workload that the focus goes to as soon as it is there to see. */
let awaited = ''
/** A workload of which the events have not told yet. */
let making = ''

/** The name in the address, whatever somebody has typed there. */
function selected() {
  const [, name = ''] = /^#\/(.+)$/.exec(location.hash) ?? []
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

let pending = false
/** Many events at a time are one change to see. */
function showSoon() {
  if (pending) return
  pending = true
  requestAnimationFrame(() => {
    pending = false
    show()
  })
}

function show() {
  const name = selected()
  showList(name)
  byId('main').classList.toggle('has-selection', name !== '')
  const page = showPage(api, location.hash)
  const title = page ?? name
  document.title = title ? `${title} · keelson` : 'keelson'
  if (shown && shown.name !== name) {
    shown.pane.close()
    shown = undefined
  }
  if (name && store.find(name)) {
    if (!shown) {
      shown = { name, pane: createPane(api, store, name) }
      byId('pane').replaceChildren(shown.pane.node)
      if (!store.upgradeOf(name)) store.checkUpgrades(name).catch(ignoreMissing)
    }
    shown.pane.show()
    if (awaited === name) shown.pane.heading.focus()
    awaited = ''
    making = ''
  } else {
    shown?.pane.close()
    shown = undefined
    drawNothing(byId('pane'), { name, isMaking: name === making, store })
  }
}

/** A server without upgrades is a server all the same. */
function ignoreMissing(error: unknown) {
  if (!(error instanceof Refusal)) showProblem(error)
}

store.onChange(change => {
  showSoon()
  if (!change) return
  const { before, after } = change
  if (!after) {
    announce(`${before?.name} is deleted`)
    if (before?.name === selected()) location.hash = ''
  } else if (store.isListed() && before?.status !== after.status)
    announce(`${after.name}: ${statusWord(after.status)}`)
})

function focusList(name = '') {
  const row =
    document.querySelector(`#list a[href="${CSS.escape(placeOf(name))}"]`) ??
    document.querySelector('#list a')
  if (row instanceof HTMLElement) row.focus()
  else byId('main').focus()
}

addEventListener('hashchange', () => {
  const before = shown?.name
  const name = selected()
  awaited = name
  show()
  if (!byId('place').hidden) byId('place').querySelector('h2')?.focus()
  else if (!name && !document.activeElement?.closest('header')) focusList(before)
})
byId('skip').addEventListener('click', event => {
  event.preventDefault()
  focusList(selected())
})
byId('run').addEventListener('click', () => {
  const onRun = (name: string) => {
    making = name
    location.hash = placeOf(name)
  }
  openRunDialog({ api, store, onRun })
})
byId('secrets').addEventListener('click', () => openSecretsDialog(api))

const connection = byId('connection')
function showConnection(state: string, text: string) {
  connection.className = `connection ${state}`
  document.body.classList.toggle('stale', state === 'lost')
  if (connection.textContent !== text) connection.textContent = text
}

show()
void follow(api, {
  onOpen() {
    store.begin()
    shown?.pane.reopen()
    showConnection('live', 'Live')
  },
  onEvent(event) {
    const first = !store.isListed()
    store.hear(event)
    if (first && store.isListed()) store.checkUpgrades().catch(ignoreMissing)
    if (event.name === 'workload-upgraded') {
      const { name } = event.data as Workload
      announce(`${name} is upgraded`)
      store.checkUpgrades(name).catch(ignoreMissing)
    }
  },
  onLost: problem => showConnection('lost', problem),
})
