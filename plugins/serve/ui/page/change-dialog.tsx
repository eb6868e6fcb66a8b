import { useEffect, useState } from 'preact/hooks'
import type { WorkloadDetails } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { type Dialog, openDialog } from './dialog.tsx'
import { listGroups } from './groups.ts'
import { messageOf } from './message-of.ts'
import { bodyOf } from './run-body.ts'
import { draftOfDetails } from './run-draft.ts'
import { RunForm, type Send } from './run-form.tsx'
import { findNames, type KnownNames, useSecretKeys } from './secrets-missing.tsx'
import { sendWithConsent } from './send-with-consent.tsx'
import { Facts } from './server-facts.tsx'
import { Starting } from './starting.tsx'
import type { Store } from './store.ts'
import { storeSecrets } from './store-secrets.ts'

interface Needs {
  readonly api: Api
  readonly store: Store
  readonly name: string
  readonly kind: 'edit' | 'clone'
  /** Hears how the clone is called, when the dialog is closed. */
  readonly onMade?: (name: string) => void
}

/** Edits a workload, or makes another one like it. */
export function openChangeDialog(needs: Needs): void {
  const { kind, name, onMade } = needs
  let made = ''
  openDialog({
    title: kind === 'edit' ? `Edit ${name}` : `Clone ${name}`,
    kind: 'wide',
    content: dialog => (
      <ChangeSteps
        {...needs}
        dialog={dialog}
        onMade={one => {
          made = one
        }}
      />
    ),
    onClose: () => made && onMade?.(made),
  })
}

interface Known {
  readonly details: WorkloadDetails
  /** The run config, of which a clone keeps what the fields do not show. */
  readonly config: object
  readonly names: KnownNames | undefined
  readonly groups: readonly string[]
}

const pathOf = (name: string) => `/api/v1beta/workloads/${encodeURIComponent(name)}`

async function load(api: Api, name: string): Promise<Known> {
  const path = pathOf(name)
  const [details, config, groups]: [WorkloadDetails, object, string[]] = await Promise.all([
    api.get(path),
    api.get(`${path}/export`),
    listGroups(api),
  ])
  const { secrets, header_forward } = details
  const names = await findNames(api, secrets.length > 0 || Boolean(header_forward?.add_headers_from_secret))
  return { details, config, names, groups }
}

function ChangeSteps({
  dialog,
  onMade,
  ...needs
}: Needs & { dialog: Dialog; onMade: (name: string) => void }) {
  const { api, store, name } = needs
  const [known, setKnown] = useState<Known | undefined>()
  const [problem, setProblem] = useState('')
  const [made, setMade] = useState('')
  useEffect(() => {
    load(api, name).then(setKnown, error => setProblem(messageOf(error)))
  }, [name])

  if (problem)
    return (
      <p class="problem refusal" role="alert">
        {problem}
      </p>
    )
  if (!known) return <p role="status">Loading…</p>
  const edit = () => {
    dialog.close()
    openChangeDialog({ ...needs, name: made, kind: 'edit' })
  }
  if (made) return <Starting {...{ api, store }} name={made} close={dialog.close} onEdit={edit} />
  return (
    <ChangeForm
      {...needs}
      known={known}
      onMade={one => {
        setMade(one)
        onMade(one)
      }}
    />
  )
}

function ChangeForm({
  api,
  name,
  kind,
  known,
  onMade,
}: Needs & { known: Known; onMade: (name: string) => void }) {
  const { details, config, names, groups } = known
  const keys = useSecretKeys(api, names)
  const isEdit = kind === 'edit'
  const [first] = useState(() => draftOfDetails(details, isEdit ? name : `${name}-2`))

  const send: Send = async (draft, { update, signal }) => {
    const owner = { workload: draft.name }
    const variables = await storeSecrets(api, owner, draft.variables)
    update({ variables })
    const headers = await storeSecrets(api, owner, draft.headers)
    update({ headers })
    const noHeaders = details.url ? { header_forward: {} } : {}
    const body = { ...noHeaders, ...bodyOf({ ...draft, variables, headers }) }
    const made = isEdit
      ? await sendWithConsent(api, `${pathOf(name)}/edit`, { ...details, ...body }, signal)
      : await sendWithConsent(api, '/api/v1beta/workloads', { ...config, ...body }, signal)
    onMade(made.name)
  }
  return (
    <RunForm
      {...{ first, keys, send }}
      facts={{ isRemote: Boolean(details.url), isChange: isEdit, groups }}
      action={isEdit ? 'Save and restart' : 'Make the clone'}
      waiting={isEdit ? 'Saving, and starting it anew.' : 'Making the clone.'}
    >
      <Facts
        rows={[
          ['Package', details.image],
          ['Runs at', details.url],
        ]}
      />
    </RunForm>
  )
}
