import { useEffect, useRef } from 'preact/hooks'
import type { Api } from './api.ts'
import { Choice } from './field.tsx'
import { openGroupsDialog } from './groups-dialog.tsx'
import { SORTS, type SortKey } from './sort-workloads.ts'
import type { Store } from './store.ts'

const OPTIONS = Object.entries(SORTS).map(([key, [title]]) => [key, title] as const)

/** The filter, the order and the groups. The key / goes to the filter from anywhere on the page but another field. */
export function ListTools(props: {
  api: Api
  store: Store
  wanted: string
  setWanted: (text: string) => void
  sort: SortKey
  setSort: (key: SortKey) => void
}) {
  const { api, store, wanted, setWanted, sort, setSort } = props
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
    <div class="list-tools">
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
      <Choice aria-label="Sort by" value={sort} options={OPTIONS} onChange={key => setSort(key as SortKey)} />
      <button type="button" onClick={() => openGroupsDialog(api, store)}>
        Groups…
      </button>
    </div>
  )
}
