import { parse, TomlError } from 'smol-toml'
import {
  type Format,
  FormatProblem,
  isObject,
  lineBreakOf,
  lineStart,
  nextLine,
  type Splice,
  type Step,
  splice,
  type Value,
} from './format.ts'
import { isElement, isOnlyChange, valueAt } from './only-change.ts'
import {
  type Block,
  type Pair,
  type Range,
  scanArray,
  scanInlineTable,
  scanToml,
  skipTrivia,
} from './toml-source.ts'

/**
 * TOML, edited as text. Entries stand two deep: `[section.name]`, or an element of `[[section]]`.
 *
 * What was edited is parsed again; where more than our part has changed, the edit is refused.
 */
export const toml: Format = {
  parse: parseToml,
  set(text, path, value) {
    if (path.length > 3) return setInside(text, path, value)
    return checked(text, path, value, place => setAt(text, place, path, value))
  },
  remove(text, path) {
    if (valueAt(parseToml(text), path) === undefined) return text
    if (path.length > 3) return setInside(text, path, undefined)
    return checked(text, path, undefined, place =>
      path.length > 2 ? cutMember(text, place, path) : cutEntry(text, place),
    )
  },
}

function parseToml(text: string): unknown {
  try {
    return toPlain(parse(text, { integersAsBigInt: 'asNeeded' }))
  } catch (error) {
    if (error instanceof TomlError) {
      throw new FormatProblem(
        error.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '') ?? '',
        error.line,
      )
    }
    if (error instanceof RangeError) throw new FormatProblem('it is nested too deeply')
    throw error
  }
}

/** The library's tables have no prototype, which would set them apart from ours. */
function toPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlain)
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toPlain(inner)]))
    : value
}

function checked(
  text: string,
  path: readonly Step[],
  value: Value | undefined,
  edit: (place: Place) => readonly Splice[],
): string {
  const before = parseToml(text)
  const result = splice(text, edit(findPlace(text, before, path)))
  let after: unknown
  try {
    after = parseToml(result)
  } catch (error) {
    if (!(error instanceof FormatProblem)) throw error
  }
  if (after !== undefined && isOnlyChange(before, after, path, value)) return result
  throw new FormatProblem(`"${String(path[0])}" is written in a way that cannot be edited safely`)
}

/** What is deeper than a member of an entry is written together with the whole member. */
function setInside(text: string, path: readonly Step[], value: Value | undefined): string {
  const at = path.slice(0, 3)
  const whole = withInner(valueAt(parseToml(text), at), path.slice(3), value)
  return checked(text, at, whole, place => setAt(text, place, at, whole))
}

function withInner(outer: unknown, [step, ...rest]: readonly Step[], value: Value | undefined): Value {
  if (typeof step !== 'string') throw new Error('members of members are named')
  const { [step]: before, ...others } = isObject(outer) ? (outer as Record<string, Value>) : {}
  const inner = rest.length ? withInner(before, rest, value) : value
  return inner === undefined ? others : { ...others, [step]: inner }
}

/** Where a section and one of its entries stand. */
interface Place {
  readonly section: string
  readonly entry: Step
  /** The entry's own block and those below it. */
  readonly blocks: readonly Block[]
  /** Pairs that give it as a whole, or (with longer paths) a member of it. */
  readonly pairs: readonly { pair: Pair; path: readonly string[] }[]
  /** The section written as one value: `{ … }` or `[ … ]`. */
  readonly inline: Range | undefined
  /** Its member or element that is the entry. */
  readonly within: { readonly whole: Range; readonly value: Range } | undefined
}

function findPlace(text: string, document: unknown, path: readonly Step[]): Place {
  const [section, entry] = path
  if (typeof section !== 'string' || entry === undefined) throw new Error('an entry stands in a section')
  const known = valueAt(document, [section])
  const isList = typeof entry !== 'string'
  if (known !== undefined && (isList ? !Array.isArray(known) : !isObject(known))) {
    throw new FormatProblem(`"${section}" is not a ${isList ? 'list' : 'table'}`)
  }
  const all = scanToml(text)
  const whole = all.flatMap(block => block.pairs.map(pair => ({ pair, path: [...block.path, ...pair.path] })))
  const inline = whole.find(({ path }) => path.length === 1 && path[0] === section)?.pair.value
  const base = { section, entry, inline }
  if (!isList) {
    const isOurs = (candidate: readonly string[]) => candidate[0] === section && candidate[1] === entry
    const blocks = all.filter(block => isOurs(block.path))
    const pairs = whole.filter(
      ({ path, pair }) => isOurs(path) && !blocks.some(block => block.pairs.includes(pair)),
    )
    const member = inline && scanInlineTable(text, inline.start).find(pair => pair.path[0] === entry)
    return { ...base, blocks, pairs, within: member && { whole: member, value: member.value } }
  }
  const index = Array.isArray(known) ? known.findIndex(element => isElement(element, entry)) : -1
  if (Array.isArray(known) && known.filter(element => isElement(element, entry)).length > 1) {
    throw new FormatProblem(`"${entry.is}" stands there twice`)
  }
  const element = inline && index >= 0 ? scanArray(text, inline.start)[index] : undefined
  return {
    ...base,
    pairs: [],
    blocks: inline || index < 0 ? [] : elementBlocks(all, section, index),
    within: element && { whole: element, value: element },
  }
}

/** The `[[section]]` of that index, and the blocks below it. */
function elementBlocks(blocks: readonly Block[], section: string, index: number): Block[] {
  const isHead = (block: Block) => block.isElement && block.path.length === 1 && block.path[0] === section
  let count = -1
  return blocks.filter(block => {
    if (isHead(block)) count++
    return count === index && block.path[0] === section
  })
}

function setAt(text: string, place: Place, path: readonly Step[], value: Value): Splice[] {
  const member = path[2]
  if (member === undefined) {
    if (place.within ?? place.blocks[0] ?? place.pairs[0])
      throw new FormatProblem('the entry is there already')
    return [addEntry(text, place, value)]
  }
  if (typeof member !== 'string') throw new Error('members of entries are named')
  return [setMember(text, place, member, value)]
}

const key = (name: string): string => (/^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name))

/** Strings, numbers and booleans are written as in JSON (all its escapes are TOML's too, but DEL must be escaped). */
function inlineValue(value: Value): string {
  if (typeof value !== 'object') return JSON.stringify(value).replaceAll('\u007f', '\\u007f')
  if (Array.isArray(value)) return `[${value.map(inlineValue).join(', ')}]`
  return `{ ${Object.entries(value)
    .map(([name, inner]) => `${key(name)} = ${inlineValue(inner)}`)
    .join(', ')} }`
}

function addEntry(text: string, { section, entry, inline }: Place, value: Value): Splice {
  if (!isObject(value)) throw new Error('an entry is a table')
  const broken = lineBreakOf(text)
  if (inline)
    return addInline(
      text,
      inline,
      `${typeof entry === 'string' ? `${key(entry)} = ` : ''}${inlineValue(value)}`,
    )
  const header = typeof entry === 'string' ? `[${key(section)}.${key(entry)}]` : `[[${key(section)}]]`
  const lines = Object.entries(value).map(([name, inner]) => `${key(name)} = ${inlineValue(inner as Value)}`)
  const written = [header, ...lines].join(broken)
  const start = text.length
  const unfinished = text !== '' && !text.endsWith('\n')
  const lead = text === '' ? '' : unfinished ? broken + broken : broken
  return { start, end: start, text: lead + written + (unfinished ? '' : broken) }
}

/** First in the list or table, on a line of its own where the others stand on lines of their own. */
function addInline(text: string, inline: Range, written: string): Splice {
  const start = inline.start + 1
  const isEmpty = /^[\]}]/.test(text.slice(skipTrivia(text, start)))
  const isTable = text[inline.start] === '{'
  const line = /^[ \t]*(?:#[^\n]*)?\r?\n([ \t]*)/.exec(text.slice(start))?.[1]
  if (isEmpty) return { start, end: start, text: isTable && text[start] !== ' ' ? ` ${written} ` : written }
  const lead = line !== undefined ? lineBreakOf(text) + line : isTable ? ' ' : ''
  return {
    start,
    end: start,
    text: `${lead}${written},${line === undefined && !/\s/.test(text[start] ?? '') ? ' ' : ''}`,
  }
}

function setMember(text: string, place: Place, member: string, value: Value): Splice {
  const own = place.blocks.find(({ path }) => path.length === (typeof place.entry === 'string' ? 2 : 1))
  const ownPair = own?.pairs.find(({ path }) => path.length === 1 && path[0] === member)
  const dotted = place.pairs.find(({ path }) => path.length === 3 && path[2] === member)?.pair
  const whole = place.pairs.find(({ path }) => path.length === 2)?.pair.value ?? place.within?.value
  const inner =
    whole && scanInlineTable(text, whole.start).find(({ path }) => path.length === 1 && path[0] === member)
  const found = (ownPair ?? dotted ?? inner)?.value
  const written = inlineValue(value)
  if (found) return { ...found, text: written }
  const line = `${key(member)} = ${written}`
  if (whole) return addInline(text, whole, line)
  if (!own) throw new FormatProblem('the entry is written in a way that cannot be edited safely')
  const at = nextLine(text, own.header.end)
  if (at === text.length && !text.endsWith('\n'))
    return { start: at, end: at, text: lineBreakOf(text) + line }
  return { start: at, end: at, text: line + lineBreakOf(text) }
}

function cutMember(text: string, place: Place, path: readonly Step[]): Splice[] {
  const member = path[2]
  const isIt = (pair: Pair) => pair.path[0] === member
  const depth = typeof place.entry === 'string' ? 2 : 1
  const pairs = [
    ...place.blocks.filter(block => block.path.length === depth).flatMap(block => block.pairs.filter(isIt)),
    ...place.pairs.filter(({ path }) => path.length > 2 && path[2] === member).map(({ pair }) => pair),
  ]
  const whole = place.pairs.find(({ path }) => path.length === 2)?.pair.value ?? place.within?.value
  const inner = whole ? scanInlineTable(text, whole.start).find(isIt) : undefined
  return [
    ...pairs.map(pair => linesOf(text, pair.start, pair.end)),
    ...(inner && whole ? cutInline(text, whole, inner) : []),
  ]
}

function cutEntry(text: string, { blocks, pairs, inline, within }: Place): Splice[] {
  if (within && inline) return cutInline(text, inline, within.whole)
  return [
    ...blocks.map((block, i) => {
      const lines = linesOf(text, block.header.start, block.pairs.at(-1)?.end ?? block.header.end)
      // The blank line above came with the block.
      const blank =
        i === 0 ? (/(?:^|\n)([ \t]*\r?\n)$/.exec(text.slice(0, lines.start))?.[1]?.length ?? 0) : 0
      const broken =
        lines.start < lineStart(text, block.header.start)
          ? (/\r?\n$/.exec(text.slice(0, lines.start))?.[0].length ?? 0)
          : blank
      return { ...lines, start: lines.start - broken }
    }),
    ...pairs.map(({ pair }) => linesOf(text, pair.start, pair.end)),
  ]
}

/** Whole lines; of the last one in a text without a final line break, the line break before it instead. */
function linesOf(text: string, start: number, end: number): Splice {
  const from = lineStart(text, start)
  const to = nextLine(text, end)
  if (to < text.length || text.endsWith('\n')) return { start: from, end: to, text: '' }
  const broken = /\r?\n$/.exec(text.slice(0, from))?.[0].length ?? 0
  return { start: from - broken, end: to, text: '' }
}

/** Takes an element or member out of `[ … ]` or `{ … }`, with the comma that goes with it. */
function cutInline(text: string, whole: Range, part: Range): Splice[] {
  const open = whole.start + 1
  const behind = skipTrivia(text, part.end)
  const first = skipTrivia(text, open) === part.start
  const blank = /\s*$/.exec(text.slice(open, part.start))?.[0].length ?? 0
  if (text[behind] === ',') {
    const follows = /^\r?\n/.test(text.slice(behind + 1))
    const gap = follows ? 0 : (/^[ \t]*/.exec(text.slice(behind + 1))?.[0].length ?? 0)
    const lead = follows || (first && text[whole.start] === '{') ? blank : 0
    const keep = lead && !follows ? 0 : gap
    if (behind === part.end) return [{ start: part.start - lead, end: behind + 1 + keep, text: '' }]
    return [
      { start: part.start - lead, end: part.end, text: '' },
      { start: behind, end: behind + 1, text: '' },
    ]
  }
  if (first) {
    const gap = text[whole.start] === '{' ? (/^\s*/.exec(text.slice(part.end))?.[0].length ?? 0) : 0
    return [{ start: part.start - blank, end: part.end + gap, text: '' }]
  }
  const comma = lastComma(text, open, part.start)
  return [
    { start: comma, end: comma + 1, text: '' },
    { start: part.start - blank, end: part.end, text: '' },
  ]
}

/** The comma between the part that begins at `at` and the one before it. */
function lastComma(text: string, open: number, at: number): number {
  const parts = text[open - 1] === '[' ? scanArray(text, open - 1) : scanInlineTable(text, open - 1)
  const before = parts.findLast(({ end }) => end <= at)
  return skipTrivia(text, before?.end ?? open)
}
