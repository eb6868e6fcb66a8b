/** @import { Api } from './api.js' */
/** @import { SecretReference, Variable } from '../page-types.d.ts' */
import { element } from './element.js'
import { listSecrets, storeSecret } from './secret-keys.js'

/**
 * Fields for the variables that a server asks for, those it needs first. A secret is stored, and only
 * its name goes into the run config: without a place for secrets it cannot be given here.
 * @param {Api} api
 * @param {readonly Variable[]} variables
 * @param {string} server  secrets are stored under its name, as `keelson run` does
 */
export async function variableFields(api, variables, server) {
  const keys = variables.some(({ secret }) => secret) ? await listSecrets(api) : []
  const ordered = [...variables].sort((a, b) => Number(b.required ?? false) - Number(a.required ?? false))
  const fields = ordered.map((variable, index) =>
    variable.secret
      ? secretField(variable, `variable-${index}`, keys)
      : plainField(variable, `variable-${index}`),
  )
  const short = server.slice(server.indexOf('/') + 1)

  return {
    nodes: fields.map(({ node }) => node),
    /** @returns {Promise<{ env: Record<string, string>, secrets: SecretReference[] }>} */
    async collect() {
      /** @type {Record<string, string>} */
      const env = {}
      /** @type {SecretReference[]} */
      const secrets = []
      for (const { variable, read } of fields) {
        const { name } = variable
        const { value, stored } = read()
        if (stored) secrets.push({ name: stored, target: name })
        else if (value && variable.secret) {
          const key = `registry-user-${short}-${name}`
          await storeSecret(api, key, value)
          secrets.push({ name: key, target: name })
        } else if (value) env[name] = value
      }
      return { env, secrets }
    },
  }
}

/**
 * @typedef {object} Field
 * @property {Variable} variable
 * @property {HTMLElement} node
 * @property {() => { value?: string, stored?: string }} read
 */

/**
 * @param {Variable} variable
 * @param {string} id
 * @returns {Field}
 */
function plainField(variable, id) {
  const { default: preset, required, choices } = variable
  const attributes = { id, required, 'aria-describedby': `${id}-note` }
  const input = choices?.length
    ? element(
        'select',
        attributes,
        element('option', { value: '' }, 'Not set'),
        ...choices.map(choice => element('option', { value: choice, selected: choice === preset }, choice)),
      )
    : element('input', {
        ...attributes,
        type: 'text',
        value: preset,
        autocomplete: 'off',
        spellcheck: 'false',
      })
  return { variable, node: row(variable, id, input), read: () => ({ value: input.value }) }
}

/**
 * @param {Variable} variable
 * @param {string} id
 * @param {readonly string[] | undefined} keys
 * @returns {Field}
 */
function secretField(variable, id, keys) {
  if (!keys) {
    const note =
      'This is a secret, and there is no place for secrets yet. Choose one with “keelson secret setup” in a terminal, then open this again.'
    return { variable, node: row(variable, id, undefined, note), read: () => ({}) }
  }
  const { required } = variable
  const input = element('input', {
    id,
    required,
    type: 'password',
    autocomplete: 'off',
    'aria-describedby': `${id}-note`,
  })
  if (!keys.length) return { variable, node: row(variable, id, input), read: () => ({ value: input.value }) }
  const choice = element(
    'select',
    { 'aria-label': `${variable.name}: where it comes from`, onchange: choose },
    element('option', { value: '' }, 'A value I type'),
    ...keys.map(key => element('option', { value: key }, `Stored: ${key}`)),
  )
  function choose() {
    input.hidden = choice.value !== ''
    input.required = required === true && !input.hidden
  }
  return {
    variable,
    node: row(variable, id, element('div', { class: 'pair' }, choice, input)),
    read: () => (choice.value ? { stored: choice.value } : { value: input.value }),
  }
}

/**
 * @param {Variable} variable
 * @param {string} id
 * @param {HTMLElement | undefined} input
 * @param {string} [note]
 */
const row = ({ name, description, required, secret }, id, input, note) =>
  element(
    'div',
    { class: 'field' },
    element(
      'label',
      { for: input ? id : undefined },
      element('code', {}, name),
      element(
        'span',
        { class: 'tag' },
        [required ? 'required' : 'optional', secret && 'secret'].filter(Boolean).join(', '),
      ),
    ),
    input,
    element('p', { class: note ? 'missing' : 'soft', id: `${id}-note` }, note ?? description ?? ''),
  )
