import { isObject } from '../../../src/lib/is-object.ts'

/** What `docker mcp` writes where a value of the user's config.yaml belongs: `{{server.key}}`, with filters behind `|`. */
const TEMPLATE = /\{\{([^{}]*)\}\}/g

/**
 * The text with values of the configuration in place of its templates. A template for a list makes a text for each
 * element. Undefined where a value is missing, or a filter is not known.
 */
export function fillIn(text: string, config: unknown): string[] | undefined {
  const whole = /^\{\{([^{}]*)\}\}$/.exec(text)?.[1]
  if (whole !== undefined) return valuesOf(whole, config)
  let missing = false
  const filled = text.replace(TEMPLATE, (_, template: string) => {
    const values = valuesOf(template, config)
    if (values?.length !== 1) missing = true
    return values?.[0] ?? ''
  })
  return missing ? undefined : [filled]
}

/** Filters that are known. `into` puts the elements of a list beside each other, which `fillIn` always does. */
const FILTERS: Readonly<Record<string, (value: string) => string>> = {
  volume: path => `${path}:${path}`,
  'volume-target': path => path,
  into: value => value,
}

function valuesOf(template: string, config: unknown): string[] | undefined {
  const [path = '', ...filters] = template.split('|').map(part => part.trim())
  let value = config
  for (const key of path.split('.')) {
    value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }
  let values = (Array.isArray(value) ? value : [value]).flatMap(one =>
    ['string', 'number', 'boolean'].includes(typeof one) ? [String(one)] : [],
  )
  for (const name of filters) {
    const filter = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined
    if (!filter) return undefined
    values = values.map(filter)
  }
  return values.length ? values : undefined
}
