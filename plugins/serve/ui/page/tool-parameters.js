import { element } from './element.js'

/**
 * What a tool takes, read from its JSON Schema; whatever is odd about that is left out.
 * @param {unknown} schema
 */
export function parametersOf(schema) {
  const { properties, required } = membersOf(schema)
  const names = Object.keys(membersOf(properties))
  if (!names.length) return element('p', { class: 'soft' }, 'It takes no parameters.')
  const needed = Array.isArray(required) ? required : []
  return element(
    'dl',
    { class: 'parameters', 'aria-label': 'Parameters' },
    ...names.map(name => {
      const { description, enum: choices, ...rest } = membersOf(membersOf(properties)[name])
      const type = Array.isArray(choices) ? choices.map(String).join(' | ') : typeOf(rest)
      return element(
        'div',
        {},
        element(
          'dt',
          {},
          element('code', {}, name),
          element('span', { class: 'type' }, type),
          needed.includes(name) && element('span', { class: 'tag' }, 'required'),
        ),
        element('dd', {}, typeof description === 'string' ? description : ''),
      )
    }),
  )
}

/**
 * @param {Record<string, unknown>} schema
 * @returns {string}
 */
function typeOf({ type, items, anyOf }) {
  if (type === 'array') return `list of ${typeOf(membersOf(items)) || 'anything'}`
  if (Array.isArray(type)) return type.map(String).join(' | ')
  if (Array.isArray(anyOf))
    return anyOf
      .map(one => String(membersOf(one).type ?? ''))
      .filter(Boolean)
      .join(' | ')
  return typeof type === 'string' ? type : ''
}

/**
 * @param {unknown} value
 * @returns {Record<string, unknown>}
 */
const membersOf = value =>
  typeof value === 'object' && value !== null ? /** @type {Record<string, unknown>} */ (value) : {}
