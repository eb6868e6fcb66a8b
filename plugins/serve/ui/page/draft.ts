import type { Shape } from './shape.ts'

/** What stands in the fields, as it was typed; '' stands for nothing given. */
export type Draft = string | readonly Draft[] | { readonly [name: string]: Draft }

/** What is wrong, by JSON Pointer. */
export type Problems = ReadonlyMap<string, string>

/** What stands in the fields at first. */
export function draftOf(shape: Shape, value: unknown = shape.preset): Draft {
  switch (shape.kind) {
    case 'members':
      return Object.fromEntries(
        shape.members.map(one => [
          one.name,
          draftOf(one.shape, memberOf(value, one.name) ?? one.shape.preset),
        ]),
      )
    case 'list':
      return Array.isArray(value) ? value.map(one => draftOf(shape.item, one)) : []
    case 'choice': {
      const at = shape.choices.findIndex(one => JSON.stringify(one) === JSON.stringify(value))
      return at < 0 ? '' : String(at)
    }
    case 'json':
      return value === undefined ? '' : JSON.stringify(value, null, 2)
    default:
      return value === undefined || value === null ? '' : String(value)
  }
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

/** The value that the fields stand for. What cannot be read goes to `problems`. */
export function readDraft(
  shape: Shape,
  draft: Draft,
  { required, path, problems }: { required: boolean; path: string; problems: Map<string, string> },
): unknown {
  if (shape.kind === 'members') return readMembers(shape.members, draft, { required, path, problems })
  if (shape.kind === 'list') {
    const items = Array.isArray(draft) ? (draft as readonly Draft[]) : []
    if (items.length === 0 && !required) return undefined
    return items.map((one, index) =>
      readDraft(shape.item, one, { required: true, path: `${path}/${index}`, problems }),
    )
  }
  const text = String(draft)
  if (text === '') {
    if (shape.kind === 'text') return required ? '' : undefined
    if (required) problems.set(path, 'A value is needed.')
    return undefined
  }
  try {
    return readText(shape, text)
  } catch (error) {
    problems.set(path, (error as Error).message)
    return undefined
  }
}

function readMembers(
  members: (Shape & { kind: 'members' })['members'],
  draft: Draft,
  { required, path, problems }: { required: boolean; path: string; problems: Map<string, string> },
): unknown {
  const entries = members.flatMap(({ name, required: needed, shape }) => {
    const place = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const isAsked = needed && (required || isGiven(draft))
    const value = readDraft(shape, memberOf(draft, name) as Draft, {
      required: isAsked,
      path: place,
      problems,
    })
    return value === undefined ? [] : [[name, value]]
  })
  return entries.length > 0 || required ? Object.fromEntries(entries) : undefined
}

/** Whether anything was typed; of an object that may be left out nothing is needed until then. */
const isGiven = (draft: Draft): boolean =>
  typeof draft === 'string' ? draft !== '' : Object.values(draft).some(isGiven)

function readText(shape: Shape, text: string): unknown {
  switch (shape.kind) {
    case 'number':
    case 'integer': {
      const value = Number(text)
      if (!Number.isFinite(value)) throw new Error('This is not a number.')
      return value
    }
    case 'yes-no':
      return text === 'true'
    case 'choice':
      return shape.choices[Number(text)]
    case 'json':
      return parseJson(text)
    default:
      return text
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}`)
  }
}
