import fc from 'fast-check'

/** The keywords of a schema that a value can be just inside of, and just outside. */
export interface Bounds {
  readonly type?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
}

interface Described extends Bounds {
  readonly enum?: readonly string[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Described>>
  readonly items?: Described
  readonly anyOf?: readonly Described[]
  readonly additionalProperties?: boolean | Described
  readonly propertyNames?: Described
}

/** A place in a body with bounds: `wrap` makes a body with one value there, and all else that is required. */
export interface Place {
  readonly path: string
  readonly bounds: Bounds
  wrap(value: unknown): unknown
}

const KEYWORDS = ['pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'minItems'] as const

/** All places of a schema that have bounds. */
export function placesOf(
  schema: Described,
  path = '',
  wrap = (value: unknown): unknown => value,
): readonly Place[] {
  const own = KEYWORDS.some(keyword => schema[keyword] !== undefined) ? [{ path, bounds: schema, wrap }] : []
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    placesOf(member, `${path}.${name}`, value => wrap({ ...(sampleOf(schema) as object), [name]: value })),
  )
  const items = schema.items ? placesOf(schema.items, path, value => wrap([value])) : []
  const options = (schema.anyOf ?? []).flatMap(option => placesOf(option, path, wrap))
  return [...own, ...members, ...items, ...options, ...placesOfMap(schema, path, wrap)]
}

/** The names and the values of an object whose names are free. */
function placesOfMap(
  { propertyNames: names, additionalProperties: values }: Described,
  path: string,
  wrap: Place['wrap'],
): readonly Place[] {
  if (typeof values !== 'object') return []
  const named = names
    ? [{ path, bounds: names, wrap: (name: unknown) => wrap({ [String(name)]: sampleOf(values) }) }]
    : []
  const name = String(names ? sampleOf(names) : 'a')
  return [...named, ...placesOf(values, path, value => wrap({ [name]: value }))]
}

/** A value that fits a schema, with the members that are required alone. */
function sampleOf(schema: Described): unknown {
  if (schema.anyOf?.[0]) return sampleOf(schema.anyOf[0])
  if (schema.type === 'object' || schema.properties) {
    const required = schema.required ?? []
    return Object.fromEntries(required.map(name => [name, sampleOf(schema.properties?.[name] ?? {})]))
  }
  if (schema.type === 'array') return schema.minItems ? [sampleOf(schema.items ?? {})] : []
  if (schema.type === 'boolean') return false
  return schema.enum?.[0] ?? insideOf(schema)[0] ?? ''
}

/** Values at the edges of the bounds, on the inner side. */
export function insideOf(bounds: Bounds): readonly unknown[] {
  const { type, pattern, minLength = 0, maxLength, minimum, maximum, minItems } = bounds
  if (type === 'array') return [Array<string>(minItems ?? 0).fill('zed')]
  if (type === 'integer' || type === 'number')
    return [minimum ?? maximum ?? 0, maximum ?? minimum ?? 0].filter(
      (value, i, all) => all.indexOf(value) === i,
    )
  const texts = [...CANDIDATES, 'a'.repeat(minLength), 'a'.repeat(maxLength ?? minLength)]
  const made = pattern ? fc.sample(fc.stringMatching(new RegExp(pattern, 'u')), { numRuns: 20, seed: 1 }) : []
  return [...texts, ...made].filter(text => fits(text, bounds)).slice(-3)
}

/** Values at the edges of the bounds, on the outer side. */
export function outsideOf(bounds: Bounds): readonly unknown[] {
  const { type, minLength, maxLength, minimum, maximum, minItems } = bounds
  if (type === 'array') return minItems ? [Array<string>(minItems - 1).fill('zed')] : []
  if (type === 'integer' || type === 'number')
    return [...(minimum === undefined ? [] : [minimum - 1]), ...(maximum === undefined ? [] : [maximum + 1])]
  const edges = [
    ...(minLength ? ['a'.repeat(minLength - 1)] : []),
    ...(maxLength === undefined ? [] : ['a'.repeat(maxLength + 1)]),
  ]
  return [...edges, ...CANDIDATES].filter(text => !fits(text, bounds))
}

/** Texts of many forms, so that each pattern has some on either side. */
const CANDIDATES = [
  'a',
  'A',
  '1',
  'a b',
  'a  b',
  'a,b',
  'a/b',
  '-',
  '512m',
  'project',
  'https://a.test/',
  '\u0007',
]

function fits(text: string, { pattern = '', minLength = 0, maxLength = 10_000 }: Bounds): boolean {
  return text.length >= minLength && text.length <= maxLength && new RegExp(pattern, 'u').test(text)
}
