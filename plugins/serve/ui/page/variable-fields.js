/** @import { Api } from './api.js' */
/** @import { SecretReference, Variable } from '../page-types.d.ts' */
import { Refusal } from './api.js'
import { element } from './element.js'
import { agreedSecrets, giveSecret, listSecrets } from './secret-keys.js'

/**
 * Fields for the variables or headers that a server asks for, those it needs first. A stored secret is given only
 * when the user chooses it. A typed one is stored for this server of the registry, and only its name goes
 * into the run config: without a place for secrets it cannot be given here.
 * @param {Api} api
 * @param {readonly Variable[]} variables
 * @param {string} server  its whole name in the registry
 * @param {string} [kind]  tells the fields of several such groups apart
 */
export async function variableFields(api, variables, server, kind = 'variable') {
  /** @type {string[] | undefined} */
  let keys
  /** @type {Map<string, string>} */
  let agreed = new Map()
  /** @type {Field[]} */
  const fields = []
  const node = element('div', { class: 'fields' })

  /** @param {readonly Variable[]} more */
  async function add(more) {
    if (more.some(({ secret }) => secret)) {
      keys = await listSecrets(api)
      if (keys) agreed = await agreedSecrets(api, server)
    }
    const ordered = [...more].sort((a, b) => Number(b.required ?? false) - Number(a.required ?? false))
    for (const variable of ordered) {
      const id = `${kind}-${fields.length}`
      const field = variable.secret
        ? secretField(variable, id, { server, keys, agreed: agreed.get(variable.name) })
        : plainField(variable, id)
      fields.push(field)
      node.append(field.node)
    }
  }
  await add(variables)

  return {
    node,
    /** @returns {Promise<{ env: Record<string, string>, secrets: SecretReference[] }>} */
    async collect() {
      /** @type {Record<string, string>} */
      const env = {}
      /** @type {SecretReference[]} */
      const secrets = []
      for (const { variable, read } of fields) {
        const { name } = variable
        const { value, stored } = read()
        if (stored) secrets.push(await giveSecret(api, server, name, { name: stored }))
        else if (value && variable.secret) secrets.push(await giveSecret(api, server, name, { value }))
        else if (value) env[name] = value
      }
      return { env, secrets }
    },
    /**
     * Shows a field for each variable that was refused for having no value; the first of them is where to
     * go on.
     * @param {unknown} error
     */
    async demand(error) {
      const missing = error instanceof Refusal ? /** @type {Variable[]} */ (error.body.missing ?? []) : []
      const isThere = (/** @type {Variable} */ one) =>
        fields.some(({ variable }) => variable.name === one.name)
      await add(missing.filter(one => !isThere(one)).map(one => ({ ...one, required: true })))
      const first = fields.find(({ variable }) => missing.some(one => one.name === variable.name))
      const input = first?.node.querySelector('input:not([hidden]), select')
      if (input instanceof HTMLElement) input.focus()
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
 * @param {object} facts
 * @param {string} facts.server
 * @param {readonly string[] | undefined} facts.keys
 * @param {string | undefined} facts.agreed  the secret that this server was given before
 * @returns {Field}
 */
function secretField(variable, id, { server, keys, agreed }) {
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
  const choice = element(
    'select',
    { 'aria-label': `${variable.name}: where it comes from`, onchange: choose },
    element('option', { value: '' }, 'A value I type'),
    ...keys.map(key =>
      element(
        'option',
        { value: key, selected: key === agreed },
        `${key === agreed ? 'As before' : 'Stored'}: ${key}`,
      ),
    ),
  )
  function choose() {
    input.hidden = choice.value !== ''
    input.required = required === true && !input.hidden
  }
  choose()
  const node = row(variable, id, keys.length ? element('div', { class: 'pair' }, choice, input) : input)
  node.append(element('p', { class: 'soft' }, 'It is given to ', element('code', {}, server), '.'))
  return {
    variable,
    node,
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
