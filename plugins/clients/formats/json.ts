import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import {
  type Format,
  FormatProblem,
  indentOf,
  lineBreakOf,
  lineEnd,
  lineNumber,
  lineStart,
  nest,
  type Splice,
  type Step,
  splice,
  type Value,
} from './format.ts'

/** JSON with comments and trailing commas, as editors write it. */
export const json: Format = {
  parse: text => toValue(treeOf(text)),

  set(text, path, value) {
    const whole = isBlank(text) ? `${text}${text && !text.endsWith('\n') ? lineBreakOf(text) : ''}{}` : text
    let node = treeOf(whole)
    const steps = path.map(toKey)
    for (const [i, key] of steps.entries()) {
      assertObject(node, steps[i - 1])
      const member = memberOf(node, key)
      if (!member) return insert(whole, node, key, nest(steps.slice(i + 1), value))
      node = memberValue(member)
    }
    const inline = !startsLine(whole, node.parent?.offset ?? 0)
    const start = node.offset
    const rendered = render(whole, value, { inline, indent: indentOf(whole, start) })
    return splice(whole, [{ start, end: start + node.length, text: rendered }])
  },

  remove(text, path) {
    if (isBlank(text)) return text
    let node = treeOf(text)
    let found: { object: Node; member: Node } | undefined
    for (const key of path.map(toKey)) {
      const member: Node | undefined = node.type === 'object' ? memberOf(node, key) : undefined
      if (!member) return text
      found = { object: node, member }
      node = memberValue(member)
    }
    return found ? removeMember(text, found.object, found.member) : text
  },
}

function toKey(step: Step): string {
  if (typeof step === 'string') return step
  throw new Error('no client keeps its servers in a list in JSON')
}

function treeOf(text: string): Node {
  if (isBlank(text)) return { type: 'object', offset: 0, length: 0, children: [] }
  const errors: ParseError[] = []
  let tree: Node | undefined
  try {
    tree = parseTree(text, errors, { allowTrailingComma: true })
  } catch (error) {
    if (error instanceof RangeError) throw new FormatProblem('it is nested too deeply')
    throw error
  }
  const [first] = errors
  if (first || !tree) {
    const words = first ? printParseErrorCode(first.error) : 'ValueExpected'
    throw new FormatProblem(
      words.replace(/(?<=[a-z])[A-Z]/g, letter => ` ${letter.toLowerCase()}`).toLowerCase(),
      lineNumber(text, first?.offset ?? 0),
    )
  }
  if (tree.type !== 'object') throw new FormatProblem('it is not an object', lineNumber(text, tree.offset))
  return tree
}

/** Nothing but white space and comments. */
function isBlank(text: string): boolean {
  const scanner = createScanner(text, true)
  scanner.scan()
  return scanner.getToken() === EOF && scanner.getTokenError() === 0
}

function toValue(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(toValue)
  if (node.type !== 'object') return node.value
  return Object.fromEntries(
    (node.children ?? []).map(member => [keyOf(member), toValue(memberValue(member))]),
  )
}

const keyOf = (member: Node): string => String(member.children?.[0]?.value)

function memberValue(member: Node): Node {
  const value = member.children?.[1]
  if (!value) throw new FormatProblem('a member has no value')
  return value
}

function memberOf(object: Node, key: string): Node | undefined {
  const members = (object.children ?? []).filter(member => keyOf(member) === key)
  if (members.length > 1) throw new FormatProblem(`"${key}" stands there twice`)
  return members[0]
}

function assertObject(node: Node, name: string | undefined): void {
  if (node.type !== 'object') throw new FormatProblem(`"${name ?? ''}" is not an object`)
}

// Kinds of tokens; the library's own enum is a const enum, which does not survive type stripping.
const CLOSE_BRACE = 2
const COMMA = 5
const LINE_COMMENT = 12
const BLOCK_COMMENT = 13
const EOF = 17

interface Token {
  readonly kind: number
  readonly start: number
  readonly end: number
}

function* tokens(text: string, from: number): Generator<Token> {
  const scanner = createScanner(text, false)
  scanner.setPosition(from)
  for (let kind = scanner.scan() as number; kind !== EOF; kind = scanner.scan()) {
    const start = scanner.getTokenOffset()
    yield { kind, start, end: start + scanner.getTokenLength() }
  }
}

/** The comma behind a member, if there is one before the object's end. */
function commaAfter(text: string, at: number): number | undefined {
  for (const { kind, start } of tokens(text, at)) {
    if (kind === COMMA) return start
    if (kind === CLOSE_BRACE) return undefined
  }
  return undefined
}

/** Where the last comment on the line ends that begins behind `at`; `at` when there is none. */
function afterLineComments(text: string, at: number): number {
  let end = at
  const stop = lineEnd(text, at)
  for (const token of tokens(text, at)) {
    if (token.start >= stop) break
    const isComment = token.kind === LINE_COMMENT || token.kind === BLOCK_COMMENT
    if (!isComment && text.slice(token.start, token.end).trim()) break
    if (isComment) end = token.end
  }
  return end
}

const startsLine = (text: string, at: number): boolean => text.slice(lineStart(text, at), at).trim() === ''

const unitOf = (text: string): string => /[{[,]\r?\n([ \t]+)(?=")/.exec(text)?.[1] ?? '  '

function render(text: string, value: Value, style: { inline: boolean; indent: string }): string {
  if (style.inline) {
    const spaced = JSON.stringify(value, undefined, 1).replace(/\n\s*/g, ' ')
    return isTight(text) ? JSON.stringify(value) : spaced.replace(/^\{ | \}$/g, brace => brace.trim())
  }
  return JSON.stringify(value, undefined, unitOf(text)).replaceAll('\n', lineBreakOf(text) + style.indent)
}

/** Written without a space behind its colons. */
const isTight = (text: string): boolean => /"\s*:\S/.test(text) && !/"\s*: /.test(text)

function insert(text: string, object: Node, key: string, value: Value): string {
  const members = object.children ?? []
  const last = members.at(-1)
  const member = (style: { inline: boolean; indent: string }) =>
    `${JSON.stringify(key)}:${style.inline && isTight(text) ? '' : ' '}${render(text, value, style)}`
  if (!last) return splice(text, [intoEmpty(text, object, member)])

  const inline = !startsLine(text, last.offset)
  const indent = indentOf(text, last.offset)
  const lead = inline ? (isTight(text) ? '' : ' ') : lineBreakOf(text) + indent
  const end = last.offset + last.length
  const comma = commaAfter(text, end)
  const written = lead + member({ inline, indent })
  const behind = comma === undefined ? end : comma + 1
  const at = inline ? behind : afterLineComments(text, behind)
  if (comma !== undefined) return splice(text, [{ start: at, end: at, text: `${written},` }])
  return splice(text, [
    { start: end, end, text: ',' },
    { start: at, end: at, text: written },
  ])
}

function intoEmpty(
  text: string,
  object: Node,
  member: (style: { inline: boolean; indent: string }) => string,
): Splice {
  const start = object.offset + 1
  const end = object.offset + object.length - 1
  const inside = text.slice(start, end)
  const outer = indentOf(text, object.offset)
  const style = { inline: false, indent: outer + unitOf(text) }
  const line = lineBreakOf(text) + style.indent
  if (inside.trim()) {
    const behind = start + inside.trimEnd().length
    const inline = !inside.includes('\n')
    const written = inline ? ` ${member({ ...style, inline })}` : line + member(style)
    return { start: behind, end: behind, text: written }
  }
  // A document on one line stays on one line, unless it was empty.
  const inline = object.parent !== undefined && !text.trim().includes('\n')
  if (inline) return { start, end, text: member({ ...style, inline }) }
  return { start, end, text: line + member(style) + lineBreakOf(text) + outer }
}

function removeMember(text: string, object: Node, member: Node): string {
  const members = object.children ?? []
  const before = members[members.indexOf(member) - 1]
  const end = member.offset + member.length
  const follows = commaAfter(text, end)
  const precedes =
    follows === undefined && before ? commaAfter(text, before.offset + before.length) : undefined
  const comma = follows ?? precedes
  const from = before ? before.offset + before.length : object.offset + 1
  const start = leadOf(text, from, member.offset, Math.max(end, (follows ?? -1) + 1))
  const gap =
    start === member.offset && follows === end ? (/^[ \t]+/.exec(text.slice(end + 1))?.[0].length ?? 0) : 0
  const cuts = [{ start, end: comma === end ? end + 1 + gap : end, text: '' }]
  if (comma !== undefined && comma !== end) cuts.push({ start: comma, end: comma + 1, text: '' })
  const rest = splice(text, cuts)
  if (members.length > 1) return rest
  const open = object.offset + 1
  const close = object.offset + object.length - 1 - (text.length - rest.length)
  return rest.slice(open, close).trim() ? rest : splice(rest, [{ start: open, end: close, text: '' }])
}

/** Where the white space before a member begins, its line break included unless that would lengthen a comment. */
function leadOf(text: string, from: number, at: number, behind: number): number {
  const blank = /[ \t]*$/.exec(text.slice(from, at))?.[0].length ?? 0
  const start = at - blank
  const broken = /\r?\n$/.exec(text.slice(from, start))?.[0].length ?? 0
  if (broken === 0) return start
  const last = [...tokens(text.slice(0, at), from)].findLast(
    ({ kind }) => kind >= LINE_COMMENT && kind <= BLOCK_COMMENT,
  )
  const endsInComment = last?.kind === LINE_COMMENT && last.end === start - broken
  const restIsBlank = text.slice(behind, lineEnd(text, behind)).trim() === ''
  return endsInComment && !restIsBlank ? at : start - broken
}
