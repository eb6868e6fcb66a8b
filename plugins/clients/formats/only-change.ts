import { isDeepStrictEqual } from 'node:util'
import { isObject, type Step } from './format.ts'

/** What stands at the path; undefined when nothing does. */
export function valueAt(document: unknown, path: readonly Step[]): unknown {
  let value = document
  for (const step of path) {
    if (typeof step === 'string')
      value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
    else value = Array.isArray(value) ? value.find(element => isElement(element, step)) : undefined
  }
  return value
}

/**
 * Whether two documents differ in nothing but what stands at the path, which is `value` in the second
 * (undefined: nothing). An empty object or list on the way there counts as none.
 */
export const isOnlyChange = (
  before: unknown,
  after: unknown,
  path: readonly Step[],
  value: unknown,
): boolean =>
  isDeepStrictEqual(valueAt(after, path), value) &&
  isDeepStrictEqual(without(before, path) ?? {}, without(after, path) ?? {})

/** The document less what stands at the path, and less what is empty then. */
function without(document: unknown, path: readonly Step[]): unknown {
  const [step, ...rest] = path
  if (step === undefined) return undefined
  if (typeof step === 'string') {
    if (!isObject(document)) return document ?? undefined
    const inner = without(Object.hasOwn(document, step) ? document[step] : undefined, rest)
    const others = Object.entries(document).flatMap(([key, value]): [string, unknown][] =>
      key !== step ? [[key, value]] : inner === undefined ? [] : [[key, inner]],
    )
    return others.length ? Object.fromEntries(others) : undefined
  }
  if (!Array.isArray(document))
    return isObject(document) && Object.keys(document).length === 0 ? undefined : document
  const others = document.flatMap(element => {
    const inner = isElement(element, step) ? without(element, rest) : element
    return inner === undefined ? [] : [inner]
  })
  return others.length ? others : undefined
}

export const isElement = (element: unknown, { where, is }: Exclude<Step, string>): boolean =>
  isObject(element) && Object.hasOwn(element, where) && element[where] === is
