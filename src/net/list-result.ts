import { namedElements } from '../lib/named-elements.ts'
import { splice } from '../lib/raw-json.ts'

/** The result of a server is not what its method says that it is. */
export class UnreadableResult extends Error {
  override readonly name = 'UnreadableResult'
}

/** An item of a list (raw text). */
export interface ListItem {
  readonly name: string
  readonly text: string
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
): string {
  const found = namedElements(result, list)
  if (!found) throw new UnreadableResult(`its result has no list "${list}" of objects`)
  const { span, elements } = found
  const kept = elements.flatMap(({ name, text }) => {
    if (name === undefined) throw new UnreadableResult('an item of its list has no name')
    return change({ name, text }) ?? []
  })
  return splice(result, [{ span, text: `[${kept.join(',')}]` }])
}
