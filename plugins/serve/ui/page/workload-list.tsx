import { render } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import type { Workload } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { BulkBar } from './bulk-bar.tsx'
import { ListRow } from './list-row.tsx'
import { ListTools } from './list-tools.tsx'
import { type SortKey, sortWorkloads } from './sort-workloads.ts'
import { statusWord } from './status.tsx'
import type { Store } from './store.ts'

/** Returns what draws the list anew. */
export const createList = (place: Element, api: Api, store: Store) => (selected: string) =>
  render(<WorkloadList {...{ api, store, selected }} />, place)

function WorkloadList({ api, store, selected }: { api: Api; store: Store; selected: string }) {
  const [wanted, setWanted] = useState('')
  const [sort, setSort] = useState<SortKey>('name')
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set())
  const mark = useCallback(
    (name: string, isMarked: boolean) => setMarked(now => withName(now, name, isMarked)),
    [],
  )
  const all = store.workloads()
  if (!store.isListed() && all.length === 0) return <p class="empty">Loading…</p>
  if (all.length === 0) return <NoWorkloads />
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
  const found = all.filter(one => words.every(word => textOf(one).includes(word)))
  const chosen = all.filter(({ name }) => marked.has(name))
  const groups = [...Map.groupBy(sortWorkloads(found, sort), groupOf)].sort(([one], [other]) =>
    one.localeCompare(other, 'en', { numeric: true }),
  )
  return (
    <>
      <div class="list-head">
        <ListTools {...{ api, store, wanted, setWanted, sort, setSort }} />
        <p class="soft counts" role="status">
          {countStatuses(found) || `None of ${all.length} workloads matches.`}
        </p>
        <BulkBar {...{ api, store, chosen, found }} setMarked={names => setMarked(new Set(names))} />
      </div>
      {groups.map(([group, members]) => (
        <section key={group} class="workloads" aria-label={`Group ${group}`}>
          {(groups.length > 1 || group !== 'default') && (
            <h2 class="group-name">
              {group} <span class="soft">{members.length}</span>
            </h2>
          )}
          <ul onKeyDown={moveFocus}>
            {members.map(workload => (
              <ListRow
                key={workload.name}
                workload={workload}
                isSelected={workload.name === selected}
                isMarked={marked.has(workload.name)}
                hasUpgrade={store.upgradeOf(workload.name)?.status === 'upgrade-available'}
                onMark={mark}
              />
            ))}
          </ul>
        </section>
      ))}
    </>
  )
}

const groupOf = ({ group }: Workload): string => group || 'default'

function withName(names: ReadonlySet<string>, name: string, isIn: boolean): Set<string> {
  const changed = new Set(names)
  if (isIn) changed.add(name)
  else changed.delete(name)
  return changed
}

/** What the filter looks in. */
const textOf = ({ name, package: what, group = '', status }: Workload): string =>
  [name, what, group, statusWord(status)].join(' ').toLowerCase()

/** For example “3 running, 1 failed”. */
function countStatuses(workloads: readonly Workload[]): string {
  const groups = Map.groupBy(workloads, ({ status }) => statusWord(status))
  return [...groups].map(([word, some]) => `${some.length} ${word.toLowerCase()}`).join(', ')
}

const NoWorkloads = () => (
  <div class="empty">
    <p class="lead">No workloads yet.</p>
    <p>Choose “Run a server” and search for what you need: “time”, “github”, “files”.</p>
    <p>Or, in a terminal:</p>
    <pre>
      <code>keelson run time</code>
    </pre>
  </div>
)

/** The arrow keys go from row to row, also between groups, beside Tab. */
function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const focused = document.activeElement
  if (step === undefined || !focused) return
  const alike = [...document.querySelectorAll<HTMLElement>(`.workloads ${focused.localName}`)]
  alike[alike.indexOf(focused as HTMLElement) + step]?.focus()
  event.preventDefault()
}
