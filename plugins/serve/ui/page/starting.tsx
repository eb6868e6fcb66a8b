import { useEffect, useState } from 'preact/hooks'
import type { Api } from './api.ts'
import { showProblem } from './notices.tsx'
import { StatusBadge } from './status.tsx'
import type { Store } from './store.ts'
import { useFocus } from './use-focus.ts'

const MOST_LINES = 20
/** These are told by the page of the workload. */
const ARRIVED = new Set(['running', 'unauthenticated', 'auth_retrying'])
/** Others, such as `stopped`, are passed on the way. */
const FAILED = new Set(['error', 'unhealthy', 'policy_stopped'])

/**
 * Follows a workload that was just made, or made anew, until its server responds. If it does not, its last lines stand
 * here, and somebody decides what becomes of it.
 */
export function Starting(props: {
  api: Api
  store: Store
  name: string
  close: () => void
  onEdit: () => void
}) {
  const { api, store, name, close, onEdit } = props
  const status = useStatus(api, store, name)
  useEffect(() => {
    if (ARRIVED.has(status)) close()
  }, [status])

  if (!FAILED.has(status))
    return (
      <>
        <p role="status">
          <StatusBadge status={status} /> Waiting until the server of {name} responds.
        </p>
        <p class="soft">This goes on when you close the dialog.</p>
      </>
    )
  const remove = () => {
    close()
    api.send('DELETE', `/api/v1beta/workloads/${encodeURIComponent(name)}`).catch(showProblem)
  }
  return (
    <>
      <p class="problem refusal" role="alert">
        {name} does not run. {store.find(name)?.status_context}
      </p>
      <LastLines {...{ api, name }} />
      <Ways {...{ close, remove, onEdit }} />
    </>
  )
}

/** The events may still tell of before, so the first status is asked for. */
function useStatus(api: Api, store: Store, name: string): string {
  const [status, setStatus] = useState('starting')
  useEffect(() => {
    const path = `/api/v1beta/workloads/${encodeURIComponent(name)}/status`
    api.get(path).then(found => setStatus(found.status), showProblem)
    return store.onChange(change => {
      if (change?.after?.name === name) setStatus(change.after.status)
    })
  }, [name])
  return status
}

const Ways = (ways: { close: () => void; remove: () => void; onEdit: () => void }) => {
  const first = useFocus<HTMLButtonElement>()
  return (
    <div class="buttons">
      <button type="button" class="danger" onClick={ways.remove}>
        Delete it
      </button>
      <button type="button" onClick={ways.close}>
        Keep it as it is
      </button>
      <button ref={first} type="button" class="primary" onClick={ways.onEdit}>
        Edit it and try again
      </button>
    </div>
  )
}

/** What the server printed last; nothing where there is no log. */
function LastLines({ api, name }: { api: Api; name: string }) {
  const [lines, setLines] = useState('')
  useEffect(() => {
    api.text(`/api/v1beta/workloads/${encodeURIComponent(name)}/logs`).then(
      text => setLines(text.trimEnd().split('\n').slice(-MOST_LINES).join('\n')),
      () => {}, // a server that never began has no log
    )
  }, [name])
  if (!lines) return null
  return (
    <figure class="last-lines">
      <figcaption>The last lines that it printed</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached with the keyboard */}
      <pre tabIndex={0}>{lines}</pre>
    </figure>
  )
}
