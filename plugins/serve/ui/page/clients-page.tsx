import { useState } from 'preact/hooks'
import type { ClientStatus, Registration } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { announce } from './notices.tsx'
import { PageFrame } from './page-frame.tsx'
import { useLoad } from './use-load.ts'

const PATH = '/api/v1beta/clients'

interface Row extends ClientStatus {
  readonly groups: readonly string[]
}

/** The applications that keelson can configure: those in use first, then those installed. */
export function ClientsPage({ api }: { api: Api }) {
  const { value, problem, again } = useLoad(async signal => {
    const [{ clients }, registered, { groups }] = await Promise.all([
      api.get('/api/v1beta/discovery/clients', signal),
      api.get(PATH, signal),
      api.get('/api/v1beta/groups', signal),
    ])
    const groupsOf = new Map((registered as Registration[]).map(one => [one.name, one.groups]))
    const rows = (clients as ClientStatus[]).map(one => ({
      ...one,
      groups: groupsOf.get(one.client_type) ?? [],
    }))
    rows.sort((a, b) => rank(b) - rank(a) || a.title.localeCompare(b.title))
    return { rows, groups: (groups as { name: string }[]).map(({ name }) => name) }
  })
  const [refusal, setRefusal] = useState('')

  async function change(work: Promise<unknown>, done: string) {
    setRefusal('')
    try {
      await work
      announce(done)
    } catch (error) {
      setRefusal((error as Error).message)
    }
    again()
  }

  const [here, others] = [value?.rows.filter(isHere) ?? [], value?.rows.filter(row => !isHere(row)) ?? []]
  const list = (rows: readonly Row[]) => (
    <ul class="rows">
      {rows.map(row => (
        <ClientRow key={row.client_type} {...{ api, row, groups: value?.groups ?? [], change }} />
      ))}
    </ul>
  )
  return (
    <PageFrame
      title="Clients"
      lead="A registered application gets the workloads of its groups, and loses those that stop. Nothing else in its settings changes."
      problem={refusal || problem}
      isLoaded={value !== undefined}
    >
      {here.length === 0 && <p>No application that keelson knows was found on this machine.</p>}
      {list(here)}
      <details>
        <summary>{others.length} that are not installed</summary>
        {list(others)}
      </details>
    </PageFrame>
  )
}

const isHere = ({ installed, groups }: Row): boolean => installed || groups.length > 0
const rank = ({ installed, groups }: Row): number => (groups.length > 0 ? 2 : 0) + (installed ? 1 : 0)

function ClientRow(props: {
  api: Api
  row: Row
  groups: readonly string[]
  change: (work: Promise<unknown>, done: string) => void
}) {
  const { api, row, groups, change } = props
  const { client_type: name, title, file, installed, problem } = row
  const free = groups.filter(group => !row.groups.includes(group))
  const [chosen, setChosen] = useState('')
  const group = free.includes(chosen) ? chosen : (free[0] ?? '')
  const register = () =>
    change(api.send('POST', PATH, { name, groups: [group] }), `${title} gets the workloads of ${group}`)
  const remove = (one: string) => {
    const path = `${PATH}/${encodeURIComponent(name)}/groups/${encodeURIComponent(one)}`
    change(api.send('DELETE', path), `${title} loses the workloads of ${one}`)
  }
  return (
    <li>
      <div>
        <p>
          <span class="name">{title}</span> <span class="tag">{installed ? 'Installed' : 'Not found'}</span>
        </p>
        <p class="soft">
          {row.groups.length > 0 ? 'Writes to ' : 'Would write to '}
          <code>{file}</code>
        </p>
        {problem && <p class="problem">{problem}</p>}
        {row.groups.map(one => (
          <p key={one}>
            Gets the workloads of “{one}”{' '}
            <button
              type="button"
              class="small"
              aria-label={`Remove ${title} from ${one}`}
              onClick={() => remove(one)}
            >
              Remove
            </button>
          </p>
        ))}
      </div>
      {group && (
        <div class="choose">
          {free.length > 1 && (
            <select
              aria-label={`Group for ${title}`}
              value={group}
              onChange={({ currentTarget }) => setChosen(currentTarget.value)}
            >
              {free.map(one => (
                <option key={one}>{one}</option>
              ))}
            </select>
          )}
          <button type="button" class="small" aria-label={`Register ${title}`} onClick={register}>
            Register
          </button>
        </div>
      )}
    </li>
  )
}
