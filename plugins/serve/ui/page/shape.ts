import { type Members, membersOf } from './members.ts'

/** How a value is asked for. `json`: a text field that takes JSON, for all that has no field of its own. */
export type Shape = { readonly description: string; readonly label: string; readonly preset: unknown } & (
  | { readonly kind: 'text' | 'number' | 'integer' | 'yes-no' | 'json' }
  | { readonly kind: 'choice'; readonly choices: readonly unknown[] }
  | { readonly kind: 'list'; readonly item: Shape }
  | { readonly kind: 'members'; readonly members: readonly Member[] }
)

export interface Member {
  readonly name: string
  readonly required: boolean
  readonly shape: Shape
}

/** Deeper ones, and those that refer to themselves, are written as JSON. */
const MOST_DEEP = 4
const MOST_CHOICES = 200
/** A schema that refers to itself in many places would have millions. */
const MOST_FIELDS = 500

/** The shape of what a JSON Schema describes (drafts 7 to 2020-12). A schema of a server may be anything at all. */
export const shapeOf = (schema: unknown): Shape => shapeWithin(schema, schema, 0, { fields: 0 })

function shapeWithin(schema: unknown, root: unknown, depth: number, made: { fields: number }): Shape {
  made.fields += 1
  const given = simplify(membersOf(schema), root)
  const { type, title, description, items, properties, required } = given
  const facts = {
    description: typeof description === 'string' ? description : '',
    label: typeof title === 'string' ? title : '',
    preset: given.default,
  }
  const choices = choicesOf(given)
  if (choices) return { ...facts, kind: 'choice', choices }
  if (isCombined(given)) return { ...facts, kind: 'json' }
  if (type === 'string') return { ...facts, kind: 'text' }
  if (type === 'number' || type === 'integer') return { ...facts, kind: type }
  if (type === 'boolean') return { ...facts, kind: 'yes-no' }
  if (depth >= MOST_DEEP || made.fields > MOST_FIELDS) return { ...facts, kind: 'json' }
  if (type === 'array' && isSchema(items))
    return { ...facts, kind: 'list', item: shapeWithin(items, root, depth + 1, made) }
  if (isSchema(properties) && hasOnlyNamed(given)) {
    const needed = Array.isArray(required) ? required : []
    const members = Object.entries(properties).map(([name, one]) => ({
      name,
      required: needed.includes(name),
      shape: shapeWithin(one, root, depth + 1, made),
    }))
    return { ...facts, kind: 'members', members }
  }
  return { ...facts, kind: 'json' }
}

const isSchema = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Members that the schema does not name have no field. */
const hasOnlyNamed = ({ additionalProperties, patternProperties }: Members): boolean =>
  !isSchema(additionalProperties) && patternProperties === undefined

const isCombined = ({ oneOf, anyOf, allOf, not, if: condition }: Members): boolean =>
  [oneOf, anyOf, allOf, not, condition].some(one => one !== undefined)

function choicesOf({ enum: choices, const: only }: Members): readonly unknown[] | undefined {
  if (only !== undefined) return [only]
  return Array.isArray(choices) && choices.length > 0 && choices.length <= MOST_CHOICES ? choices : undefined
}

/** Follows `$ref` within the schema, and takes the one thing that may be null besides as that thing. */
function simplify(schema: Members, root: unknown): Members {
  const { $ref, type, anyOf, ...rest } = schema
  const found = typeof $ref === 'string' ? membersOf(lookUp($ref, root)) : undefined
  if (found && found.$ref === undefined) return { ...found, ...rest }
  if (found) return { ...rest, anyOf: [] } // a chain of references
  if (Array.isArray(type)) {
    const [only, ...more] = type.filter(one => one !== 'null')
    return more.length === 0 ? { ...schema, type: only } : { ...schema, type: undefined }
  }
  if (!Array.isArray(anyOf)) return schema
  const [only, ...more] = anyOf.filter(one => membersOf(one).type !== 'null')
  return more.length === 0 && anyOf.length === 2
    ? { ...simplify(membersOf(only), undefined), ...rest }
    : schema
}

/** What a JSON Pointer within the document names (RFC 6901). */
export function lookUp(reference: string, root: unknown): unknown {
  if (!reference.startsWith('#/')) return undefined
  return reference
    .slice(2)
    .split('/')
    .map(part => decode(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (at, part) => (Object.hasOwn(membersOf(at), part) ? membersOf(at)[part] : undefined),
      root,
    )
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
