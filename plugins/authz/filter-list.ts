import type { Caller } from '../../src/contracts/caller-auth.ts'
import { isObject } from '../../src/lib/is-object.ts'
import { namedElements } from '../../src/lib/named-elements.ts'
import { parseRaw, splice } from '../../src/lib/raw-json.ts'
import { UnreadableResult } from '../../src/net/list-result.ts'
import type { Decider, Feature, Use } from './decider.ts'
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
  options: { caller: Caller; decider: Decider; learn: (use: Use) => void; signal: AbortSignal },
): Promise<string> {
  const { caller, decider, learn, signal } = options
  const list = namedElements(result, items)
  if (!list) throw new UnreadableResult(`its result has no list "${items}" of objects`)
  const { span, elements } = list
  const values = parseRaw(result.slice(span.start, span.end)) as readonly unknown[]
  const uses = values.map((item): Use => {
    const id = isObject(item) ? item[member] : undefined
    if (!isObject(item) || typeof id !== 'string') {
      throw new UnreadableResult(`an item of its list "${items}" has no ${member}`)
    }
    return feature === 'tool' ? { feature, id, hints: hintsOf(item.annotations) } : { feature, id }
  })
  if (feature === 'tool') uses.forEach(learn)
  const allowed = await decider.decideAll(caller, uses, signal)
  const kept = elements.flatMap(({ text }, index) => (allowed[index] === true ? text : []))
  return kept.length === elements.length ? result : splice(result, [{ span, text: `[${kept.join(',')}]` }])
}
