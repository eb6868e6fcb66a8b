import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'

export interface Tab {
  readonly title: string
  /** What the tab shows. It is drawn from the first time it is seen, and told when it is hidden. */
  readonly panel: (isSeen: boolean) => ComponentChildren
}

/** Tabs as the ARIA Authoring Practices describe them: one stop for Tab, arrow keys between. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const [chosen, setChosen] = useState(0)
  const opened = useRef(new Set<number>()).current
  const list = useRef<HTMLDivElement>(null)
  opened.add(chosen)

  function moveFocus(event: KeyboardEvent) {
    const last = tabs.length - 1
    const targets: Readonly<Record<string, number>> = {
      ArrowRight: chosen === last ? 0 : chosen + 1,
      ArrowLeft: chosen === 0 ? last : chosen - 1,
      Home: 0,
      End: last,
    }
    const target = targets[event.key]
    if (target === undefined) return
    event.preventDefault()
    setChosen(target)
    list.current?.querySelectorAll<HTMLElement>('[role="tab"]')[target]?.focus()
  }

  return (
    <div class="tabs">
      <div ref={list} role="tablist" aria-label={label} onKeyDown={moveFocus}>
        {tabs.map(({ title }, index) => (
          <button
            key={title}
            type="button"
            role="tab"
            id={`tab-${index}`}
            aria-controls={`panel-${index}`}
            aria-selected={index === chosen}
            tabIndex={index === chosen ? 0 : -1}
            onClick={() => setChosen(index)}
          >
            {title}
          </button>
        ))}
      </div>
      {tabs.map(({ title, panel }, index) => (
        <div
          key={title}
          role="tabpanel"
          id={`panel-${index}`}
          aria-labelledby={`tab-${index}`}
          hidden={index !== chosen}
        >
          {opened.has(index) && panel(index === chosen)}
        </div>
      ))}
    </div>
  )
}
