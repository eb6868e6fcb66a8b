import { useState } from 'preact/hooks'
import type { Api } from './api.ts'
import { openChangeDialog } from './change-dialog.tsx'
import { type Dialog, openDialog } from './dialog.tsx'
import { listGroups } from './groups.ts'
import { RegistrySearch } from './registry-search.tsx'
import { bodyOf, targetOf } from './run-body.ts'
import { type Chosen, draftOfChosen, type RunDraft } from './run-draft.ts'
import { RunForm, type Send } from './run-form.tsx'
import { agreedSecrets } from './secret-keys.ts'
import { findNames, type KnownNames, useSecretKeys } from './secrets-missing.tsx'
import { sendWithConsent } from './send-with-consent.tsx'
import { ServerFacts } from './server-facts.tsx'
import { Starting } from './starting.tsx'
import type { Store } from './store.ts'
import { storeSecrets } from './store-secrets.ts'

const TITLE = 'Run a server'
const WAITING =
  'Fetching what it needs. The first time this may take some minutes, and goes on if you close this.'

interface Needs {
  readonly api: Api
  readonly store: Store
  /** Hears how the new workload is called, when the dialog is closed. */
  readonly onRun: (name: string) => void
}

/** Searches the registry, then asks what the chosen server needs, then runs it and waits until it responds. */
export function openRunDialog({ api, store, onRun }: Needs): void {
  let made = ''
  openDialog({
    title: TITLE,
    kind: 'wide',
    content: dialog => (
      <RunSteps
        {...{ api, store, dialog }}
        onMade={name => {
          made = name
        }}
      />
    ),
    onClose: () => made && onRun(made),
  })
}

/** What is known before the form is shown. */
interface Choice {
  readonly chosen: Chosen
  readonly first: RunDraft
  readonly names: KnownNames | undefined
  readonly agreed: ReadonlyMap<string, string>
  readonly groups: readonly string[]
}

function RunSteps(props: { api: Api; store: Store; dialog: Dialog; onMade: (name: string) => void }) {
  const { api, store, dialog, onMade } = props
  const [choice, setChoice] = useState<Choice | undefined>()
  const [made, setMade] = useState('')

  async function choose(chosen: Chosen) {
    setChoice(await prepare(api, chosen))
    dialog.retitle(`Run ${chosen.title ?? chosen.name}`)
  }
  function goBack() {
    setChoice(undefined)
    dialog.retitle(TITLE)
  }
  function edit() {
    dialog.close()
    openChangeDialog({ api, store, name: made, kind: 'edit' })
  }
  if (made) return <Starting {...{ api, store }} name={made} close={dialog.close} onEdit={edit} />
  if (!choice) return <RegistrySearch api={api} onChoose={choose} />
  return (
    <ChosenForm
      {...{ api, choice, goBack }}
      onMade={name => {
        setMade(name)
        onMade(name)
      }}
    />
  )
}

async function prepare(api: Api, chosen: Chosen): Promise<Choice> {
  const asksSecrets = [...(chosen.env_vars ?? []), ...(chosen.headers ?? [])].some(({ secret }) => secret)
  const [names, groups] = await Promise.all([findNames(api, asksSecrets), listGroups(api)])
  const agreed = names?.names ? await agreedSecrets(api, chosen.name) : new Map()
  return { chosen, first: draftOfChosen(chosen, agreed), names, agreed, groups }
}

function ChosenForm(props: { api: Api; choice: Choice; goBack: () => void; onMade: (name: string) => void }) {
  const { api, choice, goBack, onMade } = props
  const { chosen, first, names, agreed, groups } = choice
  const keys = { ...useSecretKeys(api, names), agreed }
  const target = targetOf(chosen)
  const server = chosen.reference ? undefined : chosen.name
  const isRemote = Boolean(chosen.url) || 'url' in target

  const send: Send = async (draft, { update, signal }) => {
    const owner = { server, workload: draft.name }
    const variables = await storeSecrets(api, owner, draft.variables)
    update({ variables })
    const headers = await storeSecrets(api, owner, draft.headers)
    update({ headers })
    const body = { ...bodyOf({ ...draft, variables, headers }), ...target }
    onMade((await sendWithConsent(api, '/api/v1beta/workloads', body, signal)).name)
  }
  return (
    <RunForm
      {...{ first, keys, send }}
      facts={{ isRemote, isChange: false, server, groups }}
      action="Run"
      waiting={WAITING}
      back={
        <button type="button" onClick={goBack}>
          Back to the search
        </button>
      }
    >
      {chosen.description && <p class="said">{chosen.description}</p>}
      <ServerFacts server={chosen} />
    </RunForm>
  )
}
