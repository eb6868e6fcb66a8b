import { useEffect, useState } from 'preact/hooks'
import type { Api } from './api.ts'
import { confirm, openDialog } from './dialog.tsx'
import { Field, Line } from './field.tsx'
import { GROUPS, listGroups } from './groups.ts'
import { messageOf } from './message-of.ts'
import type { Store } from './store.ts'

/** Makes and deletes groups. */
export function openGroupsDialog(api: Api, store: Store): void {
  openDialog({ title: 'Groups', content: () => <Groups {...{ api, store }} /> })
}

function Groups({ api, store }: { api: Api; store: Store }) {
  const [groups, setGroups] = useState<readonly string[]>([])
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<string | undefined>()
  const [, redraw] = useState({})
  useEffect(() => store.onChange(() => redraw({})), [store])
  const fail = (error: unknown) => setProblem(messageOf(error))
  const load = () => listGroups(api).then(setGroups).catch(fail)
  useEffect(() => void load(), [])

  const members = (group: string) => store.workloads().filter(one => (one.group ?? 'default') === group)
  async function change(work: Promise<unknown>) {
    setProblem(undefined)
    await work.then(() => setName('')).catch(fail)
    await load()
  }
  function create(event: Event) {
    event.preventDefault()
    if (!name.trim()) return setProblem('A name is needed.')
    void change(api.send('POST', GROUPS, { name: name.trim() }))
  }
  async function remove(group: string) {
    const { length } = members(group)
    const text = length ? `Its ${length} workloads move to the group “default”.` : 'It is empty.'
    if (await confirm({ title: `Delete the group ${group}?`, text, action: 'Delete', danger: true }))
      await change(api.send('DELETE', `${GROUPS}/${encodeURIComponent(group)}`))
  }
  return (
    <>
      <ul class="keys">
        {groups.map(group => (
          <li key={group}>
            <span class="name">{group}</span>
            <span class="soft">{countOf(members(group).length)}</span>
            {group !== 'default' && (
              <button
                type="button"
                class="small danger"
                aria-label={`Delete the group ${group}`}
                onClick={() => remove(group)}
              >
                Delete
              </button>
            )}
          </li>
        ))}
      </ul>
      <form class="key-form" noValidate onSubmit={create}>
        <Field
          id="group-name"
          label="New group"
          note="Lower-case letters, digits, “_” and “-”. Workloads are moved by selecting them in the list."
          problem={problem}
        >
          {described => <Line {...described} value={name} onChange={setName} />}
        </Field>
        <div class="buttons">
          <button type="submit" class="primary">
            Create
          </button>
        </div>
      </form>
    </>
  )
}

const countOf = (count: number): string => (count === 1 ? '1 workload' : `${count} workloads`)
