import { useEffect, useState } from 'preact/hooks'
import type { ClientStatus, Registration, Workload } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { Snippet } from './snippet.tsx'

/** How applications reach a workload. */
export const Connect = ({ api, workload }: { api: Api; workload: Workload }) => (
  <div class="connect">
    <h3>Applications on this machine</h3>
    <Clients api={api} group={workload.group || 'default'} />
    <h3>Other applications</h3>
    <Snippet workload={workload} />
  </div>
)

const PATH = '/api/v1beta/clients'

/** The applications that are installed or registered, each with a button. */
function Clients({ api, group }: { api: Api; group: string }) {
  const [clients, setClients] = useState<readonly (ClientStatus & { isHere: boolean })[] | undefined>()
  const [problem, setProblem] = useState('')

  async function load(signal?: AbortSignal) {
    const [{ clients: all }, registered] = await Promise.all([
      api.get('/api/v1beta/discovery/clients', signal),
      api.get(PATH, signal),
    ])
    const here = (registered as readonly Registration[]).filter(({ groups }) => groups.includes(group))
    const names = new Set(here.map(({ name }) => name))
    setClients(
      (all as readonly ClientStatus[])
        .map(one => ({ ...one, isHere: names.has(one.client_type) }))
        .filter(({ installed, isHere }) => installed || isHere),
    )
  }
  useEffect(() => {
    const { signal, abort } = aborter()
    load(signal).catch(error => signal.aborted || setProblem(error.message))
    return abort
  }, [group])

  async function change(name: string, isHere: boolean) {
    setProblem('')
    try {
      if (isHere)
        await api.send('DELETE', `${PATH}/${encodeURIComponent(name)}/groups/${encodeURIComponent(group)}`)
      else await api.send('POST', PATH, { name, groups: [group] })
      await load()
    } catch (error) {
      setProblem((error as Error).message)
    }
  }

  return (
    <>
      <p class="soft">
        A connected application gets all workloads of the group “{group}”, and loses those that stop.
      </p>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {clients?.length === 0 && <p>No application that keelson knows was found.</p>}
      <ul>
        {clients?.map(({ client_type: name, isHere, problem: trouble }) => (
          <li key={name}>
            <span class="name">{name}</span>
            <span class="soft">{trouble ?? (isHere ? 'connected' : 'not connected')}</span>
            <button
              type="button"
              class="small"
              aria-label={`${isHere ? 'Disconnect' : 'Connect'} ${name}`}
              onClick={() => change(name, isHere)}
            >
              {isHere ? 'Disconnect' : 'Connect'}
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}

function aborter() {
  const ending = new AbortController()
  return { signal: ending.signal, abort: () => ending.abort() }
}
