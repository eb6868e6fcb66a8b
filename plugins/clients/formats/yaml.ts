import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import {
  type Format,
  FormatProblem,
  lineBreakOf,
  lineEnd,
  lineStart,
  nextLine,
  type Splice,
  type Step,
  splice,
  type Value,
} from './format.ts'
import { isOnlyChange, valueAt } from './only-change.ts'

type Collection = YAMLMap<Node, Node | null> | YAMLSeq<Node>
type Item = Pair<Node, Node | null> | Node

/**
 * YAML, edited as text: the library only says where things stand. Its own writer would reformat the user's file.
 *
 * Where text may go is not always certain (block scalars, document ends, comments), so several places
 * are tried, and the first is taken that changes nothing else.
 */
export const yaml: Format = {
  parse: text => contentOf(documentOf(text)),

  set(text, path, value) {
    const document = documentOf(text)
    return firstThatFits(text, document, path, value, () => {
      let node = document.contents as Node | null
      if (isNothing(node)) return [appended(text, block(text, path, value, 0))]
      let holder: Found | undefined
      for (const [i, step] of path.entries()) {
        assertEditable(node, path[i - 1])
        if (holder && isEmpty(node) && !isFlow(holder.collection))
          return filled(text, holder, path.slice(i), value)
        if (!isCollection(node)) throw new FormatProblem(`${show(path[i - 1])} holds no servers`)
        const collection = node as Collection
        const found = find(collection, step)
        if (!found) return inserted(text, collection, i === 0, path.slice(i), value)
        holder = found
        node = isPair(found.item) ? (found.item.value as Node | null) : (found.item as Node)
      }
      return holder ? replaced(text, holder, value) : []
    })
  },

  remove(text, path) {
    const document = documentOf(text)
    if (valueAt(contentOf(document), path) === undefined) return text
    return firstThatFits(text, document, path, undefined, () => {
      let node = document.contents as Node | null
      let holder: Found | undefined
      let outer: Found | undefined
      for (const step of path) {
        assertEditable(node, undefined)
        const found = isCollection(node) ? find(node as Collection, step) : undefined
        if (!found) return []
        outer = holder
        holder = found
        node = isPair(found.item) ? (found.item.value as Node | null) : (found.item as Node)
      }
      return holder ? cut(text, holder, outer) : []
    })
  },
}

interface Found {
  readonly collection: Collection
  readonly index: number
  readonly item: Item
}

function documentOf(text: string): Document.Parsed {
  let document: Document.Parsed
  try {
    document = parseDocument(text, { keepSourceTokens: true, logLevel: 'error' })
  } catch (error) {
    if (error instanceof RangeError) throw new FormatProblem('it is nested too deeply')
    throw error
  }
  const [first] = document.errors
  if (first)
    throw new FormatProblem(
      first.message.split('\n')[0]?.replace(/ at line.*$/, '') ?? '',
      first.linePos?.[0].line,
    )
  const { contents } = document
  if (!isNothing(contents) && !isMap(contents)) throw new FormatProblem('it is not a mapping')
  return document
}

function contentOf(document: Document.Parsed): unknown {
  try {
    return document.toJS() ?? {}
  } catch (error) {
    throw new FormatProblem(error instanceof Error ? error.message : String(error)) // aliases without end
  }
}

const isNothing = (node: unknown): boolean => !node || (isScalar(node) && node.value === null)
const isEmpty = (node: unknown): boolean => isNothing(node) || (isCollection(node) && node.items.length === 0)
const isFlow = (collection: Collection): boolean => collection.flow === true
const show = (step: Step | undefined): string => (typeof step === 'string' ? `"${step}"` : 'an entry')

function assertEditable(node: Node | null, step: Step | undefined): void {
  if (isAlias(node)) throw new FormatProblem(`${show(step)} is an alias of another part of the document`)
}

function find(collection: Collection, step: Step): Found | undefined {
  const fits = (item: unknown): boolean => {
    if (typeof step === 'string') return isPair(item) && isScalar(item.key) && String(item.key.value) === step
    return isMap(item) && item.get(step.where) === step.is
  }
  const all = (collection.items as Item[]).flatMap((item, index) =>
    fits(item) ? [{ collection, index, item }] : [],
  )
  if (all.length > 1) throw new FormatProblem(`${show(step)} stands there twice`)
  return all[0]
}

function firstThatFits(
  text: string,
  document: Document.Parsed,
  path: readonly Step[],
  value: Value | undefined,
  candidates: () => readonly (readonly Splice[])[],
): string {
  const before = contentOf(document)
  for (const splices of candidates()) {
    const result = splice(text, splices)
    const after = parseDocument(result, { logLevel: 'error' })
    if (after.errors.length === 0 && isOnlyChange(before, contentOf(after), path, value)) return result
  }
  throw new FormatProblem(`${show(path[0])} is written in a way that cannot be edited safely`)
}

/** Tokens of the source, as far as they are needed here. */
interface SourceToken {
  readonly type: string
  readonly offset: number
}
interface SourceItem {
  readonly start: readonly SourceToken[]
  readonly sep?: readonly SourceToken[]
}

function sourceOf(collection: Collection, index: number): SourceItem | undefined {
  const token = collection.srcToken as { items?: readonly SourceItem[] } | undefined
  return token?.items?.[index]
}

const SPACE = new Set(['space', 'newline', 'comment', 'comma'])

/** Where an item begins: its dash, question mark, anchor or tag included. */
function startOf({ collection, index, item }: Found): number {
  const own = isPair(item) ? (item.key as Node).range?.[0] : (item as Node).range?.[0]
  return sourceOf(collection, index)?.start.find(({ type }) => !SPACE.has(type))?.offset ?? own ?? 0
}

const commaBefore = (collection: Collection, index: number): number | undefined =>
  sourceOf(collection, index)?.start.find(({ type }) => type === 'comma')?.offset

function endOf(item: Item): number {
  const node = isPair(item) ? (item.value as Node | null) : (item as Node)
  if (isPair(item) && (!node?.range || node.range[0] === node.range[1])) {
    return Math.max((item.key as Node).range?.[1] ?? 0, node?.range?.[1] ?? 0)
  }
  if (isCollection(node) && !node.flow && node.items.length) return endOf(node.items.at(-1) as Item)
  return node?.range?.[1] ?? 0
}

/** The lines of a block, indented, without the last line break. */
function block(text: string, path: readonly Step[], value: Value, column: number): string {
  const nested = path.reduceRight<unknown>(
    (inner, step) => (typeof step === 'string' ? { [step]: inner } : [inner]),
    value,
  )
  return stringify(nested, { lineWidth: 0, compat: 'yaml-1.1' })
    .trimEnd()
    .split('\n')
    .map(line => ' '.repeat(column) + line)
    .join(lineBreakOf(text))
}

function appended(text: string, lines: string): Splice[] {
  const broken = lineBreakOf(text)
  const start = text.length
  const written = text && !text.endsWith('\n') ? broken + lines : lines + broken
  return [{ start, end: start, text: written }]
}

function inserted(
  text: string,
  collection: Collection,
  isRoot: boolean,
  path: readonly Step[],
  value: Value,
): Splice[][] {
  const broken = lineBreakOf(text)
  if (isFlow(collection)) return [[intoFlow(text, collection, path, value)]]
  const first: Found = { collection, index: 0, item: collection.items[0] as Item }
  const start = startOf(first)
  const column = start - lineStart(text, start)
  const lines = block(text, path, value, column)
  const before = lineStart(text, start)
  const behind = lineEnd(text, endOf(first.item))
  const above: Splice = { start: before, end: before, text: lines + broken }
  const inFront: Splice = { start, end: start, text: lines.trimStart() + broken + ' '.repeat(column) }
  const below: Splice = { start: behind, end: behind, text: broken + lines }
  const startsLine = text.slice(before, start).trim() === ''
  return [...(isRoot ? [appended(text, lines)] : []), ...(startsLine ? [[above]] : []), [below], [inFront]]
}

/** First in a flow collection. White space that stands there stays behind it. */
function intoFlow(text: string, collection: Collection, path: readonly Step[], value: Value): Splice {
  const at = (collection.range?.[0] ?? 0) + 1
  const [step, ...rest] = path
  const inner = rest.reduceRight<unknown>(
    (inside, next) => (typeof next === 'string' ? { [next]: inside } : [inside]),
    value,
  )
  const written = (typeof step === 'string' ? `${JSON.stringify(step)}: ` : '') + JSON.stringify(inner)
  const comma = collection.items.length ? ',' : ''
  const isPadded = /^\s/.test(text.slice(at, at + 1))
  return { start: at, end: at, text: isPadded ? ` ${written}${comma}` : `${written}${comma}${comma && ' '}` }
}

/** Gives an empty value of a block mapping its first content. */
function filled(text: string, holder: Found, path: readonly Step[], value: Value): Splice[][] {
  const { item, collection, index } = holder
  if (!isPair(item)) return []
  const node = item.value as Node | null
  const colon = sourceOf(collection, index)?.sep?.find(({ type }) => type === 'map-value-ind')?.offset
  if (colon === undefined) return []
  const [from = colon + 1, to = colon + 1] = node?.range ?? []
  const between = text.slice(colon + 1, from)
  if (from < to && !/^[ \t]*$/.test(between)) {
    return isCollection(node) ? [[intoFlow(text, node as Collection, path, value)]] : []
  }
  const blank = from < to ? between.length : 0
  const column = startOf(holder) - lineStart(text, startOf(holder)) + 2
  const at = lineEnd(text, Math.max(colon, from < to ? to : 0))
  return [
    [
      ...(from < to ? [{ start: from - blank, end: to, text: '' }] : []),
      { start: at, end: at, text: lineBreakOf(text) + block(text, path, value, column) },
    ],
  ]
}

function replaced(text: string, { item, collection, index }: Found, value: Value): Splice[][] {
  if (!isPair(item)) return []
  const node = item.value as Node | null
  const written = stringify(value, {
    lineWidth: 0,
    compat: 'yaml-1.1',
    defaultKeyType: 'PLAIN',
    ...(isFlow(collection) ? { defaultStringType: 'QUOTE_DOUBLE' as const } : {}),
  }).trimEnd()
  const [start, end] = node?.range ?? []
  if (start !== undefined && end !== undefined && start < end) {
    return [[{ start, end, text: written }], [{ start, end, text: written + lineBreakOf(text) }]]
  }
  const colon = sourceOf(collection, index)?.sep?.find(({ type }) => type === 'map-value-ind')?.offset
  return colon === undefined ? [] : [[{ start: colon + 1, end: colon + 1, text: ` ${written}` }]]
}

function cut(text: string, holder: Found, outer: Found | undefined): Splice[][] {
  const { collection, index, item } = holder
  const start = startOf(holder)
  const end = endOf(item)
  const next = collection.items[index + 1] as Item | undefined
  if (isFlow(collection)) return [cutFlow(text, holder, start, end)]
  const from = lineStart(text, start)
  if (text.slice(from, start).trim()) {
    return next ? [[{ start, end: startOf({ collection, index: index + 1, item: next }), text: '' }]] : []
  }
  const lines = linesBetween(text, from, end)
  if (next || index > 0) return [[lines]]
  const hollow = isSeq(collection) ? ' []' : ' {}'
  const sep = outer && sourceOf(outer.collection, outer.index)?.sep
  const colon = sep?.find(({ type }) => type === 'map-value-ind')?.offset
  if (colon === undefined) return [[lines]]
  const places = [colon + 1, text.slice(colon, lineEnd(text, colon)).trimEnd().length + colon]
  return places.map(at => [{ start: at, end: at, text: hollow }, lines])
}

/** Undoes `intoFlow`; of an item further behind, the comma before it goes if none follows. */
function cutFlow(text: string, { collection, index }: Found, start: number, end: number): Splice[] {
  const following = commaBefore(collection, index + 1)
  const preceding = index > 0 ? commaBefore(collection, index) : undefined
  const before = /[ \t]*$/.exec(text.slice(0, start))?.[0].length ?? 0
  if (following === undefined) {
    const comma = preceding === undefined ? [] : [{ start: preceding, end: preceding + 1, text: '' }]
    const limit = preceding === undefined ? before : Math.min(before, start - preceding - 1)
    return [...comma, { start: start - limit, end, text: '' }]
  }
  const isLed = before > 0 && index === 0
  const behind = !isLed && text[following + 1] === ' ' ? 1 : 0
  const from = isLed ? start - before : start
  if (following === end) return [{ start: from, end: following + 1 + behind, text: '' }]
  return [
    { start: from, end, text: '' },
    { start: following, end: following + 1 + behind, text: '' },
  ]
}

/** Whole lines; of the last one in a text without a final line break, the line break before it instead. */
function linesBetween(text: string, from: number, end: number): Splice {
  const to = end > from && text[end - 1] === '\n' ? end : nextLine(text, end)
  if (to < text.length || text.endsWith('\n')) return { start: from, end: to, text: '' }
  const broken = /\r?\n$/.exec(text.slice(0, from))?.[0].length ?? 0
  return { start: from - broken, end: to, text: '' }
}
