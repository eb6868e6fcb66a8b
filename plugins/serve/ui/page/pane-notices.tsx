import type { Denial, Rollback, Workload } from '../page-types.d.ts'
import type { Store } from './store.ts'

/** What is out of the ordinary with a workload. */
export function PaneNotices({ store, workload }: { store: Store; workload: Workload }) {
  const { name, status_context: context } = workload
  const denials = store.denialsOf(name)
  const rollback = store.rollbackOf(name)
  return (
    <>
      {context && <p class="context">{context}</p>}
      {denials.some(({ host }) => host) && <p class="context">{deniedText(denials)}</p>}
      {rollback && <p class="context">{rollbackText(rollback)}</p>}
    </>
  )
}

function deniedText(denials: readonly Denial[]): string {
  const places = new Set(denials.flatMap(({ host, port }) => (host ? [`${host}:${port}`] : [])))
  return `It tried to reach ${[...places].join(', ')} and was denied. “Permissions” shows what can be allowed.`
}

const rollbackText = ({ to = 'the newer version', reason = '' }: Rollback): string =>
  `It was not upgraded to ${to}, and serves as before. ${reason}`
