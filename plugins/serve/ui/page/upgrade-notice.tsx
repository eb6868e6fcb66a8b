import { useEffect, useRef, useState } from 'preact/hooks'
import type { Upgrade } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { checkVariables, type FieldProblems } from './check-draft.ts'
import { type Dialog, openDialog } from './dialog.tsx'
import { messageOf } from './message-of.ts'
import { showProblem } from './notices.tsx'
import { refusedFields } from './refused-fields.ts'
import { plainOf, referencesOf } from './run-body.ts'
import { draftOfVariables, type VariableDraft } from './run-draft.ts'
import { agreedSecrets } from './secret-keys.ts'
import { findNames, type KnownNames, useSecretKeys } from './secrets-missing.tsx'
import { sendWithConsent } from './send-with-consent.tsx'
import type { Store } from './store.ts'
import { storeSecrets } from './store-secrets.ts'
import { useFocus } from './use-focus.ts'
import { VariableRows } from './variable-rows.tsx'

interface Needs {
  readonly api: Api
  readonly store: Store
  readonly upgrade: Upgrade
}

/** Says that there is something newer, and offers to take it. */
export const UpgradeNotice = (needs: Needs) => (
  <div class="upgrade">
    <p>
      The registry has something newer: <code>{needs.upgrade.candidate_image}</code>
    </p>
    <button type="button" onClick={() => offer(needs).catch(showProblem)}>
      Upgrade…
    </button>
  </div>
)

async function offer(needs: Needs): Promise<void> {
  const { api, upgrade } = needs
  const { workload_name, registry_server = '', env_var_drift: { added = [] } = {} } = upgrade
  const names = await findNames(
    api,
    added.some(({ secret }) => secret),
  )
  const agreed = names?.names ? await agreedSecrets(api, registry_server) : new Map<string, string>()
  openDialog({
    title: `Upgrade ${workload_name}?`,
    content: dialog => <UpgradeForm {...{ ...needs, dialog, names, agreed }} />,
  })
}

type Props = Needs & {
  dialog: Dialog
  names: KnownNames | undefined
  agreed: ReadonlyMap<string, string>
}

function UpgradeForm({ api, store, upgrade, dialog, names, agreed }: Props) {
  const { workload_name: workload, registry_server: server, config_drift = {}, env_var_drift } = upgrade
  const keys = { ...useSecretKeys(api, names), agreed }
  const [rows, setRows] = useState<readonly VariableDraft[]>(() =>
    draftOfVariables(env_var_drift?.added, agreed),
  )
  const [problems, setProblems] = useState<FieldProblems>(new Map())
  const [refusal, setRefusal] = useState('')
  const [isBusy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const apply = useFocus<HTMLButtonElement>()
  useEffect(() => {
    if (problems.size > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [problems])

  async function submit(event: Event) {
    event.preventDefault()
    const found = new Map<string, string>()
    checkVariables('variable', rows, found)
    setProblems(found)
    setRefusal('')
    if (isBusy || found.size > 0) return
    setBusy(true)
    let sent = rows
    try {
      sent = await storeSecrets(api, { server, workload }, rows)
      setRows(sent)
      const secrets = referencesOf(sent).map(one => `${one.name},target=${one.target}`)
      const path = `/api/v1beta/workloads/${encodeURIComponent(workload)}/upgrade`
      await sendWithConsent(api, path, { env: plainOf(sent), secrets })
      await store.checkUpgrades(workload)
      dialog.close()
    } catch (error) {
      // The dialog may be closed by now.
      if (!form.current?.isConnected) return showProblem(error)
      const refused = refusedFields(error, { variables: sent, headers: [] })
      setRows(refused.rows.variables)
      setProblems(refused.problems)
      setRefusal(messageOf(error))
    }
    setBusy(false)
  }
  return (
    <form ref={form} noValidate onSubmit={submit} aria-busy={isBusy}>
      <dl class="facts">
        <Change what="Package" from={upgrade.current_image} to={upgrade.candidate_image} />
        <Change what="Transport" {...config_drift.transport} />
        <Change what="May" {...config_drift.permission_profile} />
      </dl>
      <p>
        Its configuration is kept, and so is its URL. The newer version is tried first: if it does not
        respond, this one keeps running.
      </p>
      <VariableRows kind="variable" {...{ rows, problems, keys, server, onChange: setRows }} />
      {refusal && (
        <p class="problem refusal" role="alert">
          {refusal}
        </p>
      )}
      <p class="soft" role="status">
        {isBusy && 'Fetching what is newer. This may take some minutes, and goes on if you close this.'}
      </p>
      <div class="buttons">
        <button ref={apply} type="submit" class="primary" aria-disabled={isBusy}>
          Upgrade
        </button>
      </div>
    </form>
  )
}

const Change = ({ what, from, to }: { what: string; from?: string | undefined; to?: string | undefined }) =>
  to === undefined ? null : (
    <div>
      <dt>{what}</dt>
      <dd>
        <del>{from}</del> <ins>{to}</ins>
      </dd>
    </div>
  )
