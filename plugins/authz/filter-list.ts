import type { Caller } from '../../src/contracts/caller-auth.ts'
import { isObject } from '../../src/lib/is-object.ts'
import type { NamedLists } from '../../src/lib/named-lists.ts'
import { parseRaw, splice } from '../../src/lib/raw-json.ts'
import { findList, UnreadableResult } from '../../src/net/list-result.ts'
import type { Asker, Decider, Feature, Use } from './decider.ts'
import { hintsOf } from './hints-of.ts'

/** Where the items of a list stand, and what each is judged by. */
interface List {
  readonly items: string
  readonly feature: Feature
  readonly member: string
}

/** By method. A template is judged as a resource whose URI is the text of the template. */
export const LISTS: ReadonlyMap<string, List> = new Map([
  ['tools/list', { items: 'tools', feature: 'tool', member: 'name' }],
  ['prompts/list', { items: 'prompts', feature: 'prompt', member: 'name' }],
  ['resources/list', { items: 'resources', feature: 'resource', member: 'uri' }],
  ['resources/templates/list', { items: 'resourceTemplates', feature: 'resource', member: 'uriTemplate' }],
])

/** Leaves out the items (raw text) that the caller may not use. Throws `UnreadableResult` where it is no such list. */
export async function filterList(
  result: string,
  { items, feature, member }: List,
  options: {
    caller: Caller
    decider: Decider
    learn: (use: Use) => void
    asker: Asker
    /** Those of this result, where they are known. */
    lists: NamedLists | undefined
  },
): Promise<string> {
  const { caller, decider, learn, asker, lists } = options
  const { span, elements } = findList(result, items, lists)
  const values = parseRaw(result.slice(span.start, span.end)) as readonly unknown[]
  const uses = values.map((item): Use => {
    const id = isObject(item) ? item[member] : undefined
    if (!isObject(item) || typeof id !== 'string') {
      throw new UnreadableResult(`an item of its list "${items}" has no ${member}`)
    }
    return feature === 'tool' ? { feature, id, hints: hintsOf(item.annotations) } : { feature, id }
  })
  if (feature === 'tool') uses.forEach(learn)
  const allowed = await decider.decideAll(caller, uses, asker)
  const kept = elements.flatMap(({ start, end }, index) =>
    allowed[index] === true ? result.slice(start, end) : [],
  )
  return kept.length === elements.length ? result : splice(result, [{ span, text: `[${kept.join(',')}]` }])
}
