import type { Workload } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { confirm } from './dialog.tsx'
import { openMoveDialog } from './move-dialog.tsx'
import { NameList } from './name-list.tsx'
import { showProblem } from './notices.tsx'
import { isUp } from './status.tsx'
import type { Store } from './store.ts'

const isDown = (status: string) => !isUp(status)

/** What can be done with several: the route, which of them it concerns, and what that means. */
const ACTIONS = [
  ['Start', 'restart', isDown, ''],
  ['Stop', 'stop', isUp, 'Clients that are connected to them lose them. They can be started again.'],
  ['Restart', 'restart', isUp, 'Clients that are connected to them are cut off for a moment.'],
  [
    'Delete',
    'delete',
    () => true,
    'They are stopped, and their configurations are deleted. That cannot be taken back.',
  ],
] as const

/** Actions on the workloads that are selected in the list, with one question that names them. */
export function BulkBar(props: {
  api: Api
  store: Store
  chosen: readonly Workload[]
  /** Those that the filter shows. */
  found: readonly Workload[]
  setMarked: (names: readonly string[]) => void
}) {
  const { api, store, chosen, found, setMarked } = props
  const isAll = found.length > 0 && found.every(one => chosen.includes(one))

  async function act([verb, route, fits, text]: (typeof ACTIONS)[number]) {
    const names = chosen.filter(({ status }) => fits(status)).map(({ name }) => name)
    if (names.length === 0) return
    const title = `${verb} ${names.length === 1 ? names[0] : `${names.length} workloads`}?`
    const more = <NameList names={names} />
    if (text && !(await confirm({ title, text, more, action: verb, danger: verb === 'Delete' }))) return
    await api.send('POST', `/api/v1beta/workloads/${route}`, { names }).catch(showProblem)
    setMarked([])
  }
  return (
    <div class="bulk">
      <label>
        <input
          type="checkbox"
          checked={isAll}
          indeterminate={!isAll && chosen.length > 0}
          onChange={() => setMarked(isAll ? [] : found.map(({ name }) => name))}
        />
        {chosen.length > 0 ? `${chosen.length} selected` : 'Select all'}
      </label>
      {chosen.length > 0 && (
        <fieldset class="bulk-actions" aria-label="Actions on the selected workloads">
          {ACTIONS.map(action => (
            <button
              key={action[0]}
              type="button"
              class={action[0] === 'Delete' ? 'small danger' : 'small'}
              aria-label={`${action[0]} the selected`}
              aria-disabled={!chosen.some(({ status }) => action[2](status))}
              onClick={() => act(action)}
            >
              {action[0]}
            </button>
          ))}
          <button
            type="button"
            class="small"
            aria-label="Move the selected to a group"
            onClick={() => openMoveDialog({ api, store, workloads: chosen, onMoved: () => setMarked([]) })}
          >
            Move…
          </button>
        </fieldset>
      )}
    </div>
  )
}
