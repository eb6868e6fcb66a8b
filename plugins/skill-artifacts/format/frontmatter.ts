import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLError } from 'yaml'
import { failures } from '../failures.ts'
import { printable } from './member-path.ts'
import { FRONTMATTER_BYTES, SKILL_FILE_BYTES } from './skill-limits.ts'

/** A value of the frontmatter, every scalar as it is written: `version: 1.10` is the text "1.10". */
export type Value =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'map'; readonly members: Readonly<Record<string, string>> }
  /** A kind of value that no member may have; `what` names it in words. */
  | { readonly kind: 'other'; readonly what: string }

/** The parts of a SKILL.md. */
export interface Frontmatter {
  /** The members that have a value, by name. Lines count from 1. */
  readonly members: ReadonlyMap<string, { readonly line: number; readonly value: Value }>
  /** The text after the frontmatter. */
  readonly body: string
  /** How many lines the whole file has. */
  readonly lines: number
  /** The line of the opening `---`. */
  readonly line: number
}

const FORM = 'It begins with a line "---", then name and description, then another line "---".'

/**
 * Splits SKILL.md: the frontmatter is between two lines `---`; three dashes elsewhere have no meaning. A
 * byte order mark, empty lines at the start and Windows line ends are allowed. Fails with
 * `skill_invalid`, which names the line.
 */
export function readFrontmatter(bytes: Uint8Array): Frontmatter {
  if (bytes.length > SKILL_FILE_BYTES) {
    throw failures.skill_invalid({
      problem: `it is larger than ${SKILL_FILE_BYTES / 1024 / 1024} MiB.`,
      hint: 'Move what is not always needed to files beside it.',
    })
  }
  const lines = decode(bytes).split('\n')
  const isFence = (line: string | undefined) => line !== undefined && /^---[ \t]*\r?$/.test(line)
  const opening = lines.findIndex(line => line.trim() !== '')
  if (!isFence(lines[opening])) {
    throw failures.skill_invalid({
      line: opening + 1 || 1,
      problem: opening < 0 ? 'it is empty.' : 'it does not begin with frontmatter.',
      hint: FORM,
    })
  }
  const closing = lines.findIndex((line, index) => index > opening && isFence(line))
  if (closing < 0) {
    throw failures.skill_invalid({
      line: opening + 1,
      problem: 'the frontmatter that begins here has no end.',
      hint: FORM,
    })
  }
  const yaml = lines
    .slice(opening + 1, closing)
    .map(line => line.replace(/\r$/, ''))
    .join('\n')
  if (Buffer.byteLength(yaml) > FRONTMATTER_BYTES) {
    throw failures.skill_invalid({
      line: opening + 1,
      problem: `the frontmatter is larger than ${FRONTMATTER_BYTES / 1024} KiB.`,
      hint: 'Move the text behind it.',
    })
  }
  const body = lines
    .slice(closing + 1)
    .join('\n')
    .replace(/^\r?\n/, '')
  return { members: readMembers(yaml, opening + 1), body, lines: lines.length, line: opening + 1 }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    // The decoder does not say where, so we look for the first line that changes when it is decoded.
    const lines = Buffer.from(bytes).toString('latin1').split('\n')
    const line = lines.findIndex(text => {
      const raw = Buffer.from(text, 'latin1')
      return !Buffer.from(raw.toString('utf8')).equals(raw)
    })
    throw failures.skill_invalid(
      { line: line + 1, problem: 'it is not UTF-8.', hint: 'Save the file as UTF-8.' },
      { cause: error },
    )
  }
}

/** `before`: the number of lines of the file before the YAML. */
function readMembers(yaml: string, before: number): Frontmatter['members'] {
  const counter = new LineCounter()
  const lineOf = (offset: number | undefined) => before + counter.linePos(offset ?? 0).line
  const members = new Map<string, { line: number; value: Value }>()
  const names = new Set<string>()
  const document = parse(yaml, counter, before)
  const [error] = document.errors
  if (error) throw yamlFailure(error, lineOf(error.pos[0]))
  const root = document.contents
  if (root === null || isEmpty(root)) return members
  if (!isMap(root)) {
    throw failures.skill_invalid({
      line: before + 1,
      problem: 'the frontmatter is not a list of names and values.',
      hint: 'Write each as "name: value".',
    })
  }
  for (const { key, value } of root.items) {
    if (!isScalar(key)) continue
    const name = String(key.value)
    if (names.has(name)) {
      const problem = `"${printable(name)}" is given twice.`
      throw failures.skill_invalid({ line: lineOf(key.range?.[0]), problem, hint: 'Remove one of them.' })
    }
    names.add(name)
    if (isEmpty(value)) continue
    members.set(name, { line: lineOf(key.range?.[0]), value: toValue(value) })
  }
  return members
}

/** Parses with the failsafe schema, which keeps numbers, booleans and dates as they are written. */
function parse(yaml: string, lineCounter: LineCounter, before: number) {
  try {
    return parseDocument(yaml, {
      schema: 'failsafe',
      lineCounter,
      prettyErrors: false,
      logLevel: 'silent',
      uniqueKeys: false, // we check it: the library compares every pair of keys
    })
  } catch (error) {
    // The library's composer is recursive and overflows the stack at thousands of levels.
    throw failures.skill_invalid(
      { line: before + 1, problem: 'the frontmatter cannot be read as YAML.' },
      { cause: error },
    )
  }
}

function yamlFailure(error: YAMLError, line: number) {
  const isColon =
    error.code === 'BLOCK_AS_IMPLICIT_KEY' || /Nested mappings are not allowed/.test(error.message)
  const isDeep = /call stack/.test(error.message) // the library's composer is recursive
  return failures.skill_invalid(
    {
      line,
      problem: `the frontmatter is not valid YAML: ${isDeep ? 'It is nested too deep.' : error.message.replace(/\s+/g, ' ').replace(/\.?$/, '.')}`,
      hint: isColon ? 'Put a value that contains a colon in quotes.' : undefined,
    },
    { cause: error },
  )
}

/** Whether a node is YAML's null. A quoted empty text is a value. */
const isEmpty = (node: unknown): boolean =>
  node === null ||
  node === undefined ||
  (isScalar(node) && node.type === 'PLAIN' && /^(?:|~|null|Null|NULL)$/.test(String(node.value)))

const textOf = (node: unknown): string | undefined =>
  isScalar(node) ? (isEmpty(node) ? '' : String(node.value)) : undefined

function toValue(node: unknown): Value {
  const text = textOf(node)
  if (text !== undefined) return { kind: 'text', text }
  if (isSeq(node)) {
    const items = node.items.map(textOf)
    const isPlain = items.every(item => item !== undefined)
    return isPlain ? { kind: 'list', items } : { kind: 'other', what: 'a list of more than texts' }
  }
  if (isMap(node)) {
    const members = node.items.map(
      ({ key, value }) => [textOf(key), value === null ? '' : textOf(value)] as const,
    )
    const texts = members.flatMap(([key, value]) =>
      key === undefined || value === undefined ? [] : [[key, value]],
    )
    const keys = new Set(texts.map(([key]) => key))
    if (keys.size < texts.length) return { kind: 'other', what: 'a mapping that has a name twice' }
    if (texts.length === members.length) return { kind: 'map', members: Object.fromEntries(texts) }
    return { kind: 'other', what: 'a mapping of more than texts' }
  }
  return { kind: 'other', what: isAlias(node as Node) ? 'an alias' : 'of another kind' }
}
