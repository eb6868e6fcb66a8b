import type { Workload } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { openChangeDialog } from './change-dialog.tsx'
import { confirm } from './dialog.tsx'
import { showProblem } from './notices.tsx'
import { placeOf } from './place-of.ts'
import { isBusy, isUp } from './status.tsx'
import type { Store } from './store.ts'

/** The buttons of a workload. What they begin goes on after the response, and shows in its status. */
export function Actions({ api, store, workload }: { api: Api; store: Store; workload: Workload }) {
  const { name, status } = workload
  const path = `/api/v1beta/workloads/${encodeURIComponent(name)}`
  const isOff = isBusy(status) && status !== 'starting'

  /** Asks first, then sends. */
  async function ask(verb: keyof typeof QUESTIONS, method: string, place: string) {
    const question = { ...QUESTIONS[verb], title: `${verb} ${name}?`, action: verb }
    if (await confirm(question)) await api.send(method, place).catch(showProblem)
  }
  const start = () => void api.send('POST', `${path}/restart`).catch(showProblem)
  const stop = () => ask('Stop', 'POST', `${path}/stop`)

  return (
    <div class="actions">
      <Action isOff={isOff} act={isUp(status) ? stop : start}>
        {isUp(status) ? 'Stop' : 'Start'}
      </Action>
      <Action isOff={isOff || !isUp(status)} act={() => ask('Restart', 'POST', `${path}/restart`)}>
        Restart
      </Action>
      <Action isOff={isOff} act={() => openChangeDialog({ api, store, name, kind: 'edit' })}>
        Edit…
      </Action>
      <Action isOff={false} act={() => openChangeDialog({ api, store, name, kind: 'clone', onMade: goTo })}>
        Clone…
      </Action>
      <Action isOff={false} kind="danger" act={() => ask('Delete', 'DELETE', path)}>
        Delete
      </Action>
    </div>
  )
}

const goTo = (name: string) => {
  location.hash = placeOf(name)
}

const QUESTIONS = {
  Stop: { text: 'Clients that are connected to it lose it. It can be started again.' },
  Restart: { text: 'Clients that are connected to it are cut off for a moment.' },
  Delete: {
    text: 'It is stopped, and its configuration is deleted. That cannot be taken back.',
    danger: true,
  },
}

/** Neither `disabled` nor hidden while it is off: the focus would be lost. */
const Action = (props: { children: string; isOff: boolean; kind?: string; act: () => unknown }) => (
  <button
    type="button"
    class={props.kind}
    aria-disabled={props.isOff ? 'true' : undefined}
    onClick={() => props.isOff || props.act()}
  >
    {props.children}
  </button>
)
