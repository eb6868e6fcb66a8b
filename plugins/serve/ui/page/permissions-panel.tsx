import { useEffect, useState } from 'preact/hooks'
import type { Grants } from '../page-types.d.ts'
import { Denials } from './denials.tsx'
import { Grant } from './grant-list.tsx'
import type { PanelProps } from './panel.ts'

/** What a workload may reach, read and use, and what it was denied. */
export function Permissions(panel: PanelProps) {
  const { api, workload, isSeen, connection } = panel
  const [grants, setGrants] = useState<Grants | undefined>()
  const [problem, setProblem] = useState('')
  const [version, setVersion] = useState(0)
  const path = `/api/v1beta/workloads/${encodeURIComponent(workload.name)}`

  useEffect(() => {
    if (!isSeen) return
    const ending = new AbortController()
    const { signal } = ending
    const parts = ['', '/export', '/status', '/denials'].map(part => api.get(`${path}${part}`, signal))
    Promise.all(parts).then(
      ([details, config, { middlewares = [] }, { denials }]) =>
        signal.aborted || setGrants({ details, config, middlewares, denials }),
      error => signal.aborted || setProblem(error.message),
    )
    return () => ending.abort()
  }, [isSeen, workload, connection, version])

  if (problem)
    return (
      <div class="empty">
        <p class="problem">
          What it may do cannot be shown
          {workload.status_context ? '. The reason stands above.' : `: ${problem}`}
        </p>
      </div>
    )
  if (!grants) return <p class="empty">Loading…</p>
  return (
    <div class="permissions">
      <Grant {...{ grants, isRemote: workload.remote === true }} />
      <Denials
        {...{ api, path, name: workload.name, denials: grants.denials }}
        onAllowed={() => setVersion(version + 1)}
      />
    </div>
  )
}
