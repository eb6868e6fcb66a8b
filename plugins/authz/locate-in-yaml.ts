import { type Document, isAlias, isScalar } from 'yaml'
import type { FilePosition } from './authz-source.ts'
import { createLineIndex } from './line-index.ts'

/** Finds the characters of a value in the text of its YAML (or JSON) document. */
export function createLocator(text: string, document: Document) {
  const positionAt = createLineIndex(text)
  const known = new Map<unknown, ReturnType<typeof startsOf>>()
  return {
    /**
     * Where the character at an offset of the text at `path` stands. White space counts as the character behind it.
     * Returns undefined for a value that is not a text, or whose characters cannot be told apart.
     */
    locate(path: readonly (string | number)[], offset: number): FilePosition | undefined {
      const named = document.getIn(path, true)
      const node = isAlias(named) ? named.resolve(document) : named
      if (!isScalar(node) || typeof node.value !== 'string') return undefined
      if (!known.has(node)) known.set(node, startsOf(node.value, node.type, slice(text, node.range)))
      const found = known.get(node)
      const at = found?.starts[Math.min(found.before[offset] ?? 0, found.starts.length - 1)]
      return at === undefined ? undefined : positionAt(at)
    },
  }
}

interface Source {
  readonly text: string
  readonly start: number
}

const slice = (text: string, range: readonly [number, number, number] | null | undefined): Source => {
  const [start, end] = range ?? [0, 0]
  return { text: text.slice(start, end), start }
}

/** How many UTF-16 units are not white space. */
const visible = (text: string): number => text.replace(/\s/g, '').length

/** What stands for one character, by the style of the scalar (YAML 1.2, chapters 7.3 and 8.1). */
const UNITS: Readonly<Record<string, RegExp>> = {
  QUOTE_DOUBLE: /\\(?:x..|u.{4}|U.{8}|\r?\n|.)|\S/g,
  QUOTE_SINGLE: /''|\S/g,
}

/** Escapes that stand for white space, besides those with a number. */
const WHITE = new Set(['n', 't', '\t', 'v', 'f', 'r', ' ', '_', 'L', 'P', '\n', '\r\n'])

/**
 * Where each unit of the value that is not white space starts. Folding and indentation change white space alone, so the
 * others come in the same order in the value and in the text.
 */
function startsOf(
  value: string,
  style: unknown,
  source: Source,
): { readonly starts: readonly number[]; readonly before: Uint32Array } | undefined {
  const isQuoted = style === 'QUOTE_DOUBLE' || style === 'QUOTE_SINGLE'
  const isBlock = style === 'BLOCK_LITERAL' || style === 'BLOCK_FOLDED'
  const header = isBlock ? source.text.indexOf('\n') + 1 : Number(isQuoted)
  const content = source.text.slice(header, isQuoted ? -1 : undefined)
  const starts = [...content.matchAll(UNITS[String(style)] ?? /\S/g)].flatMap(({ 0: unit, index }) =>
    Array.from({ length: unitsOf(unit, style) }, () => source.start + header + index),
  )
  return starts.length === visible(value) ? { starts, before: visibleBefore(value) } : undefined
}

/** For each offset, how many units before it are not white space. */
function visibleBefore(text: string): Uint32Array {
  const counts = new Uint32Array(text.length + 1)
  let count = 0
  for (let index = 0; index < text.length; index++) {
    if (/\S/.test(text.charAt(index))) count++
    counts[index + 1] = count
  }
  return counts
}

/** How many UTF-16 units that are not white space an escape or a character stands for. */
function unitsOf(unit: string, style: unknown): number {
  if (style !== 'QUOTE_DOUBLE' || !unit.startsWith('\\')) return 1
  const escaped = unit.slice(1)
  if (/^[xuU]./.test(escaped)) return visible(String.fromCodePoint(Number.parseInt(escaped.slice(1), 16)))
  return WHITE.has(escaped) ? 0 : 1
}
