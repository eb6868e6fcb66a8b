/** @import { Api } from './api.js' */
/** @import { Store } from './store.js' */
/** @import { Upgrade } from '../page-types.d.ts' */
import { openDialog } from './dialog.js'
import { element } from './element.js'
import { showProblem } from './notices.js'
import { sendWithConsent } from './send-with-consent.js'
import { variableFields } from './variable-fields.js'

/**
 * Says that there is something newer, and offers to take it.
 * @param {Api} api
 * @param {Store} store
 * @param {Upgrade} upgrade
 */
export const upgradeNotice = (api, store, upgrade) =>
  element(
    'div',
    { class: 'upgrade' },
    element(
      'p',
      {},
      'The registry has something newer: ',
      element('code', {}, upgrade.candidate_image ?? ''),
    ),
    element(
      'button',
      { type: 'button', onclick: () => offer(api, store, upgrade).catch(showProblem) },
      'Upgrade…',
    ),
  )

/**
 * @param {Api} api
 * @param {Store} store
 * @param {Upgrade} upgrade
 */
async function offer(api, store, upgrade) {
  const {
    workload_name: name,
    registry_server = '',
    current_image,
    candidate_image,
    config_drift = {},
    env_var_drift = {},
  } = upgrade
  const fields = await variableFields(api, env_var_drift.added ?? [], registry_server)
  const apply = element('button', { class: 'primary' }, 'Upgrade')
  const state = element('p', { class: 'soft', role: 'status' })

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault()
    apply.disabled = true
    state.textContent = 'Fetching what is newer. This may take some minutes, and goes on if you close this.'
    try {
      const { env, secrets } = await fields.collect()
      const body = { env, secrets: secrets.map(one => `${one.name},target=${one.target}`) }
      await sendWithConsent(api, `/api/v1beta/workloads/${encodeURIComponent(name)}/upgrade`, body)
      await store.checkUpgrades(name)
      close()
    } catch (error) {
      apply.disabled = false
      // The dialog may be closed by now.
      if (!apply.isConnected) return showProblem(error)
      state.textContent = error instanceof Error ? error.message : String(error)
      await fields.demand(error)
    }
  }

  const { close } = openDialog({
    title: `Upgrade ${name}?`,
    content: [
      element(
        'form',
        { onsubmit: submit },
        changes([
          ['Package', current_image, candidate_image],
          ['Transport', config_drift.transport?.from, config_drift.transport?.to],
          ['May', config_drift.permission_profile?.from, config_drift.permission_profile?.to],
        ]),
        element(
          'p',
          {},
          'Its configuration is kept, and so is its URL. The newer version is tried first: if it does not respond, this one keeps running.',
        ),
        fields.node,
        state,
        element('div', { class: 'buttons' }, apply),
      ),
    ],
  })
  apply.focus()
}

/** @param {readonly (readonly [what: string, from: string | undefined, to: string | undefined])[]} rows */
const changes = rows =>
  element(
    'dl',
    { class: 'facts' },
    ...rows
      .filter(([, , to]) => to !== undefined)
      .map(([what, from = '', to = '']) =>
        element(
          'div',
          {},
          element('dt', {}, what),
          element('dd', {}, element('del', {}, from), ' ', element('ins', {}, to)),
        ),
      ),
  )
