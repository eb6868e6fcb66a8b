import { useEffect, useState } from 'preact/hooks'
import type { Workload } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { type Dialog, openDialog } from './dialog.tsx'
import { Choice, Field } from './field.tsx'
import { listGroups } from './groups.ts'
import { messageOf } from './message-of.ts'
import { NameList } from './name-list.tsx'
import { showProblem } from './notices.tsx'

interface Needs {
  readonly api: Api
  readonly workloads: readonly Workload[]
  readonly onMoved: () => void
}

/** Moves workloads to another group. */
export const openMoveDialog = (needs: Needs): void =>
  openDialog({ title: 'Move to a group', content: dialog => <Move {...{ ...needs, dialog }} /> })

function Move({ api, workloads, onMoved, dialog }: Needs & { dialog: Dialog }) {
  const [groups, setGroups] = useState<readonly string[]>(['default'])
  const [group, setGroup] = useState('default')
  const [problem, setProblem] = useState<string | undefined>()
  const [moved, setMoved] = useState<number | undefined>()
  useEffect(() => void listGroups(api).then(setGroups, error => setProblem(messageOf(error))), [])

  async function submit(event: Event) {
    event.preventDefault()
    if (moved !== undefined) return
    setProblem(undefined)
    const failed: string[] = []
    for (const [index, { name }] of workloads.entries()) {
      setMoved(index)
      await move(api, name, group).catch(error => failed.push(`${name}: ${messageOf(error)}`))
    }
    setMoved(undefined)
    onMoved()
    if (failed.length > 0) showProblem(failed.join('\n'))
    dialog.close()
  }
  return (
    <form onSubmit={submit} aria-busy={moved !== undefined}>
      <NameList names={workloads.map(({ name }) => name)} />
      <Field
        id="move-group"
        label="Group"
        note="They are started anew, so clients are cut off for a moment."
        problem={problem}
      >
        {described => (
          <Choice
            {...described}
            value={group}
            options={groups.map(one => [one, one] as const)}
            onChange={setGroup}
          />
        )}
      </Field>
      <p class="soft" role="status">
        {moved !== undefined && `Moving ${moved + 1} of ${workloads.length}…`}
      </p>
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={moved !== undefined}>
          Move
        </button>
      </div>
    </form>
  )
}

/** An edit that changes nothing but the group. */
async function move(api: Api, name: string, group: string): Promise<void> {
  const path = `/api/v1beta/workloads/${encodeURIComponent(name)}`
  const details = await api.get(path)
  if ((details.group || 'default') !== group) await api.send('POST', `${path}/edit`, { ...details, group })
}
