import { render } from 'preact'
import type { Store } from './store.ts'

interface Facts {
  /** The workload that was asked for; empty: none was. */
  readonly name: string
  readonly isMaking: boolean
  readonly store: Store
}

/** Draws what stands where a workload would. */
export function drawNothing(place: Element, facts: Facts): void {
  place.replaceChildren()
  const { name, store } = facts
  if (!store.isListed() || (!name && store.workloads().length === 0)) return
  const node = document.createElement('div')
  place.append(node)
  render(<Nothing {...facts} />, node)
}

function Nothing({ name, isMaking }: Facts) {
  if (name && isMaking) return <p class="empty">{name} is being made…</p>
  if (name)
    return (
      <div class="empty">
        <p>There is no workload “{name}”.</p>
        <p>
          <a href="#/">All workloads</a>
        </p>
      </div>
    )
  return <p class="empty">Choose a workload to see its address, tools and logs.</p>
}
