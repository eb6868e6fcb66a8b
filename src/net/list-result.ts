import { QUOTE } from '../lib/json-bytes.ts'
import { nameAt } from '../lib/json-names.ts'
import { type ListElement, listsOf, type NamedLists } from '../lib/named-lists.ts'
import { type Span, splice } from '../lib/raw-json.ts'

/** The result of a server is not what its method says that it is. */
export class UnreadableResult extends Error {
  override readonly name = 'UnreadableResult'
}

/** An item of a list (raw text). */
export interface ListItem {
  readonly name: string
  readonly text: string
  /** The text of one of its members; undefined without it. */
  member(name: 'annotations' | 'inputSchema'): string | undefined
}

/**
 * The raw text of a result with the items of one list changed: `change` returns the text of an item as it is, another
 * one, or undefined to leave it out. All else stays byte for byte. The result is one valid JSON value. Throws
 * `UnreadableResult` where there is no such list, or an item has no name.
 */
export function rewriteItems(
  result: string,
  list: string,
  change: (item: ListItem) => string | undefined,
  lists?: NamedLists,
): string {
  const { span, elements } = findList(result, list, lists)
  const kept = elements.flatMap(element => change(toItem(result, element)) ?? [])
  return splice(result, [{ span, text: `[${kept.join(',')}]` }])
}

/**
 * A list of a result and where it stands. `lists`: those of this very text, where they are known. Throws
 * `UnreadableResult` where there is none.
 */
export function findList(
  result: string,
  list: string,
  lists: NamedLists = listsOf(result, new Set([list])),
): { span: Span; elements: readonly ListElement[] } {
  const found = lists.get(list)
  if (!found?.elements) throw new UnreadableResult(`its result has no list "${list}" of objects`)
  return { span: found, elements: found.elements }
}

function toItem(result: string, element: ListElement): ListItem {
  const { start, end, name } = element
  if (!name || result.charCodeAt(name.start) !== QUOTE)
    throw new UnreadableResult('an item of its list has no name')
  return {
    name: nameAt(result, name.start, name.end),
    text: result.slice(start, end),
    member(name) {
      const span = element[name]
      return span && result.slice(span.start, span.end)
    },
  }
}
