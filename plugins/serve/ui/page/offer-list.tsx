import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/** A server may list any number, and so many would freeze the page. */
const MOST_SHOWN = 100
/** From so many on there is a field to search in them. */
const MANY = 12

/** Items that open one by one, and a search where they are many. */
export function OfferList<T>({
  items,
  title,
  textOf,
  children,
}: {
  items: readonly T[]
  /** What they are, for example “tools”. */
  title: string
  /** What the search looks in. */
  textOf: (item: T) => string
  children: (item: T) => ComponentChildren
}) {
  const [wanted, setWanted] = useState('')
  const word = wanted.trim().toLowerCase()
  const found = items
    .map((item, index) => ({ item, index }))
    .filter(({ item }) => word === '' || textOf(item).toLowerCase().includes(word))
  const hidden = found.length - MOST_SHOWN
  return (
    <>
      {items.length > MANY && (
        <div class="search">
          <input
            type="search"
            aria-label={`Search the ${title}`}
            placeholder={`Search ${items.length} ${title}`}
            autocomplete="off"
            spellcheck={false}
            value={wanted}
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
        </div>
      )}
      {found.length === 0 && (
        <p class="empty">
          None of the {title} contains “{wanted}”.
        </p>
      )}
      <ul>
        {found.slice(0, MOST_SHOWN).map(({ item, index }) => (
          <li key={index}>{children(item)}</li>
        ))}
      </ul>
      {hidden > 0 && (
        <p class="empty">
          {hidden} more {title} are not shown. Search to see them.
        </p>
      )}
    </>
  )
}
