/** @import { Api } from './api.js' */
/** @import { SecretReference, ServerDetails, Variable } from '../page-types.d.ts' */
import { Refusal } from './api.js'
import { element } from './element.js'
import { showProblem } from './notices.js'
import { sendWithConsent } from './send-with-consent.js'
import { variableFields } from './variable-fields.js'

/** @typedef {ServerDetails & { reference?: string }} Chosen  `reference`: no entry, but what was typed */

/**
 * Asks what a server needs before it runs.
 * @param {Api} api
 * @param {Chosen} chosen
 * @param {{ onBack: () => void, onRun: (name: string) => void, close: () => void }} then
 */
export async function serverForm(api, chosen, { onBack, onRun, close }) {
  const fields = await variableFields(api, chosen.env_vars ?? [], chosen.name)
  const headers = await variableFields(api, chosen.headers ?? [], chosen.name, 'header')
  const name = element('input', {
    id: 'workload-name',
    type: 'text',
    required: true,
    pattern: '[A-Za-z0-9._\\-]+',
    maxlength: 100,
    autocomplete: 'off',
    spellcheck: 'false',
    value: nameFor(chosen.name),
    'aria-describedby': 'workload-name-note',
  })
  const run = element('button', { class: 'primary' }, 'Run')
  const state = element('p', { class: 'soft', role: 'status' })

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault()
    run.disabled = true
    state.textContent =
      'Fetching what it needs. The first time this may take some minutes, and goes on if you close this.'
    try {
      const { env, secrets } = await fields.collect()
      const made = await sendWithConsent(api, '/api/v1beta/workloads', {
        name: name.value,
        env_vars: env,
        secrets,
        ...headersOf(await headers.collect()),
        ...targetOf(chosen),
      })
      onRun(made.name)
      close()
    } catch (error) {
      run.disabled = false
      // The dialog may be closed by now.
      if (!run.isConnected) return showProblem(error)
      state.textContent = error instanceof Error ? error.message : String(error)
      await (isOfHeader(error, chosen) ? headers : fields).demand(error)
    }
  }

  return {
    focus: () => name.focus(),
    node: element(
      'form',
      { onsubmit: submit },
      chosen.description ? element('p', {}, chosen.description) : undefined,
      facts(chosen),
      element(
        'div',
        { class: 'field' },
        element('label', { for: 'workload-name' }, 'Name'),
        name,
        element('p', { class: 'soft', id: 'workload-name-note' }, 'Letters, digits, “.”, “_” and “-”.'),
      ),
      fields.node,
      headers.node,
      state,
      element(
        'div',
        { class: 'buttons' },
        element('button', { type: 'button', onclick: onBack }, 'Back to the search'),
        run,
      ),
    ),
  }
}

/** @param {Chosen} chosen */
function targetOf({ name, reference }) {
  if (!reference) return { registry: 'default', server: name }
  return /^https?:/.test(reference) ? { url: reference } : { image: reference }
}

/** @param {{ env: Record<string, string>, secrets: SecretReference[] }} given */
function headersOf({ env, secrets }) {
  if (!Object.keys(env).length && !secrets.length) return {}
  const add_headers_from_secret = Object.fromEntries(secrets.map(({ name, target }) => [target, name]))
  return { header_forward: { add_plaintext_headers: env, add_headers_from_secret } }
}

/**
 * @param {unknown} error
 * @param {Chosen} chosen
 */
function isOfHeader(error, { headers = [] }) {
  const missing = error instanceof Refusal ? /** @type {Variable[]} */ (error.body.missing ?? []) : []
  return missing.some(one => headers.some(({ name }) => name === one.name))
}

/** @param {string} text  what stands behind the namespace, the scheme and the folders, without a version */
const nameFor = text =>
  (
    text
      .replace(/[?#].*$/, '')
      .replace(/\/+$/, '')
      .split('/')
      .at(-1) ?? ''
  )
    .replace(/(?<=.)@.*$|:[^:]*$/, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')

/** @param {Chosen} chosen */
function facts({ image, url, tier, permissions, reference, oauth_config: login }) {
  /** @type {[string, string | undefined][]} */
  const rows = [
    ['Package', image],
    ['Runs at', url],
    ['Logs in at', login?.authorize_url || login?.issuer],
    ['Logs in as', login?.client_id],
    ['Tier', tier],
    ['May reach', reference || url ? undefined : reachOf(permissions?.network?.outbound)],
    ['Wants to read', permissions?.read?.join(', ')],
    ['Wants to change', permissions?.write?.join(', ')],
  ]
  return element(
    'dl',
    { class: 'facts' },
    ...rows.flatMap(([term, value]) =>
      value ? [element('div', {}, element('dt', {}, term), element('dd', {}, value))] : [],
    ),
  )
}

/** @param {{ insecure_allow_all?: boolean, allow_host?: readonly string[], allow_port?: readonly number[] } | undefined} outbound */
function reachOf({ insecure_allow_all, allow_host = [], allow_port = [] } = {}) {
  if (insecure_allow_all) return 'everything on the internet'
  if (!allow_host.length && !allow_port.length) return undefined
  const hosts = allow_host.join(', ') || 'any host'
  return allow_port.length ? `${hosts} (port ${allow_port.join(', ')})` : hosts
}
