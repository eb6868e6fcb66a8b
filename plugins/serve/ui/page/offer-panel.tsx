import type { ComponentChildren } from 'preact'
import type { PanelProps } from './panel.ts'
import { useOffer } from './use-offer.ts'

/** What the server of a workload offers; says so while it does not run, does not respond or refuses. */
export function OfferPanel<T>({
  panel,
  path,
  title,
  children,
}: {
  panel: PanelProps
  /** Behind that of the workload. */
  path: string
  /** What is listed, for example “tools”. */
  title: string
  children: (offer: T) => ComponentChildren
}) {
  const { known, again } = useOffer<T>(panel, path)
  if (panel.workload.status !== 'running')
    return <p class="empty">The {title} are listed here while the server runs.</p>
  if (!known) return <p class="empty">Asking the server…</p>
  if (known.offer !== undefined) return <>{children(known.offer)}</>
  return (
    <div class="empty">
      <p class="problem">{known.problem}</p>
      <p>
        <button type="button" onClick={again}>
          Ask again
        </button>
      </p>
    </div>
  )
}
