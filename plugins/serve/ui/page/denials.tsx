import { useState } from 'preact/hooks'
import type { DeniedDestination } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { askToAllow } from './ask-to-allow.tsx'
import { announce } from './notices.tsx'

/** Where a workload was denied, each with a button that allows it where that can be done from here. */
export function Denials(props: {
  api: Api
  path: string
  name: string
  denials: readonly DeniedDestination[]
  onAllowed: () => void
}) {
  const { api, path, name, denials, onAllowed } = props
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState('')

  async function allow(denial: DeniedDestination) {
    const { host, port } = denial
    setProblem('')
    if (busy || !(await askToAllow(name, denial))) return
    setBusy(`Allowing ${host}:${port}. The server may be started anew for that.`)
    try {
      await api.send('POST', `${path}/denials/allow`, { host, port })
      announce(`${name} may reach ${host}:${port}`)
      onAllowed()
    } catch (error) {
      setProblem((error as Error).message)
    }
    setBusy('')
  }

  return (
    <section aria-label="Denied connections">
      <h3>Denied lately</h3>
      <p class="soft" role="status">
        {busy}
      </p>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {denials.length === 0 && <p class="soft">Nothing was denied.</p>}
      <ul class="denials">
        {denials.map(denial => (
          <li key={`${denial.port} ${denial.host}`}>
            <code>
              {denial.host}:{denial.port}
            </code>
            <span class="soft">
              {denial.reason} · {new Date(denial.time).toLocaleString()}
            </span>
            {denial.widened && (
              <button
                type="button"
                class="small"
                aria-label={`Allow this host… ${denial.host}:${denial.port}`}
                onClick={() => allow(denial)}
              >
                Allow this host…
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
