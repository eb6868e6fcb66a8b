import { render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Workload } from '../page-types.d.ts'
import { StatusBadge, statusWord } from './status.tsx'
import type { Store } from './store.js'

/** Where a workload is shown on this page. */
export const placeOf = (name: string): string => `#/${encodeURIComponent(name)}`

/** Returns what draws the list anew. */
export const createList = (place: Element, store: Store) => (selected: string) =>
  render(<WorkloadList {...{ store, selected }} />, place)

function WorkloadList({ store, selected }: { store: Store; selected: string }) {
  const [wanted, setWanted] = useState('')
  const all = store.workloads()
  if (!store.isListed() && all.length === 0) return <p class="empty">Loading…</p>
  if (all.length === 0) return <NoWorkloads />
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
  const found = all.filter(one => words.every(word => textOf(one).includes(word)))
  return (
    <>
      <Filter {...{ wanted, setWanted }} />
      <p class="soft counts">{countStatuses(found) || `None of ${all.length} workloads matches.`}</p>
      <ul class="workloads" onKeyDown={moveFocus}>
        {found.map(workload => (
          <Row
            key={workload.name}
            workload={workload}
            isSelected={workload.name === selected}
            hasUpgrade={store.upgradeOf(workload.name)?.status === 'upgrade-available'}
          />
        ))}
      </ul>
    </>
  )
}

/** What the filter looks in. */
const textOf = ({ name, package: what, group = '', status }: Workload): string =>
  [name, what, group, statusWord(status)].join(' ').toLowerCase()

/** For example “3 running, 1 failed”. */
function countStatuses(workloads: readonly Workload[]): string {
  const groups = Map.groupBy(workloads, ({ status }) => statusWord(status))
  return [...groups].map(([word, some]) => `${some.length} ${word.toLowerCase()}`).join(', ')
}

/** The key / goes to the field from anywhere on the page but another field. */
function Filter({ wanted, setWanted }: { wanted: string; setWanted: (text: string) => void }) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const goThere = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, textarea, select, dialog')
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return
      event.preventDefault()
      field.current?.focus()
    }
    addEventListener('keydown', goThere)
    return () => removeEventListener('keydown', goThere)
  }, [])
  return (
    <div class="filter">
      <input
        ref={field}
        type="search"
        aria-label="Filter the workloads"
        aria-keyshortcuts="/"
        placeholder="Filter  ( / )"
        autocomplete="off"
        spellcheck={false}
        value={wanted}
        onInput={({ currentTarget }) => setWanted(currentTarget.value)}
      />
    </div>
  )
}

function Row(props: { workload: Workload; isSelected: boolean; hasUpgrade: boolean }) {
  const { name, package: what, status, group, no_sandbox } = props.workload
  return (
    <li>
      <a href={placeOf(name)} aria-current={props.isSelected ? 'true' : undefined}>
        <span class="name">{name}</span>
        <StatusBadge status={status} />
        <span class="what">{group && group !== 'default' ? `${what} · ${group}` : what}</span>
        {no_sandbox && <span class="tag">No sandbox</span>}
        {props.hasUpgrade && <span class="tag">Upgrade</span>}
      </a>
    </li>
  )
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

/** The arrow keys go from row to row, beside Tab. */
function moveFocus(event: KeyboardEvent): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  const item = document.activeElement?.closest('li')
  const next = event.key === 'ArrowDown' ? item?.nextElementSibling : item?.previousElementSibling
  next?.querySelector('a')?.focus()
  event.preventDefault()
}
