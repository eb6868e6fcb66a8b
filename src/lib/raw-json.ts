import { nameAt } from './json-names.ts'
import { JsonPass } from './json-pass.ts'
import { parseJson, TooManyNames } from './parse-json.ts'

/**
 * Reads JSON text without turning it into values, so that what is passed on stays byte for byte the same:
 * `JSON.parse` would round 12345678901234567890 and turn 1.0 into 1.
 *
 * All text here is "raw": one character per byte (latin1), as `Buffer.toString('latin1')` gives it. JSON's own
 * characters are ASCII and never occur inside a longer UTF-8 sequence, so scanning bytes is safe.
 */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Where the value of a member stands. */
export interface Member extends Span {
  /** The name as it was written, quotes and escapes too. */
  readonly key: string
}

/** The members of one object: where each value stands. Of a repeated name the last counts, as in `JSON.parse`. */
export interface Members {
  readonly at: ReadonlyMap<string, Member>
  /** Names that occur more than once. */
  readonly repeated: ReadonlySet<string>
  /** The first name that stands twice in one object, at any depth. */
  readonly repeatedAnywhere: string | undefined
}

/** An object whose members were read before. */
export interface RawObject {
  readonly text: string
  readonly at: Members['at']
}

/** Passes the value that starts at a position; returns its end, or -1. */
export type PassValue = (pass: JsonPass, start: number) => number

const NO_OTHERS: ReadonlyMap<string, PassValue> = new Map()

/**
 * The members of the object that starts at `from` (white space allowed); undefined when it is not a valid one.
 *
 * @param others by name, what passes a value in place of `skipValue`
 */
function readObject(
  pass: JsonPass,
  from: number,
  others = NO_OTHERS,
): { members: Members; end: number } | undefined {
  const { text } = pass
  const at = new Map<string, Member>()
  const repeated = new Set<string>()
  const end = pass.skipMembers(pass.skipSpace(from), (key, start) => {
    const keyEnd = pass.skipString(key)
    const name = nameAt(text, key, keyEnd)
    const other = others.get(name)
    const end = other ? other(pass, start) : pass.skipValue(start)
    if (at.has(name)) repeated.add(name)
    at.set(name, { key: text.slice(key, keyEnd), start, end })
    return end
  })
  return end < 0 ? undefined : { members: { at, repeated, repeatedAnywhere: pass.repeated }, end }
}

/**
 * Whether a text is one valid JSON value and nothing else, and the first name that stands twice in one of its objects, at any
 * depth. Of a text that is not valid, or has more escaped names than `parseJson` reads, only the part before that is
 * looked at.
 *
 * @param mostDistinct as of `JsonPass`
 */
export function checkJson(
  text: string,
  mostDistinct?: number,
): {
  readonly isJson: boolean
  readonly repeated: string | undefined
  readonly hasTooManyNames: boolean
} {
  const pass = new JsonPass(text, mostDistinct)
  const end = pass.skipValue(0)
  const { repeated, hasTooManyNames } = pass
  return { isJson: end >= 0 && pass.skipSpace(end) === text.length, repeated, hasTooManyNames }
}

/**
 * The first name that stands twice in one object of a valid JSON text, at any depth; undefined when none does. Empty where
 * that is not known, because too many names are written with escapes.
 */
export function repeatedMember(text: string): string | undefined {
  const { repeated, hasTooManyNames } = checkJson(text)
  return repeated ?? (hasTooManyNames ? '' : undefined)
}

/**
 * The members of a text that is one valid JSON object and nothing else; undefined otherwise.
 *
 * @param others by name, what passes the value of a member and may note what is in it
 */
export function topLevelMembers(text: string, others?: ReadonlyMap<string, PassValue>): Members | undefined {
  const pass = new JsonPass(text)
  const object = readObject(pass, 0, others)
  return object && pass.skipSpace(object.end) === text.length ? object.members : undefined
}

/** Where the value under a path of member names stands, inside the object at `span`. */
export function findSpan(text: string, span: Span | undefined, path: readonly string[]): Span | undefined {
  const pass = new JsonPass(text)
  let found = span
  for (const name of path) found = found && readObject(pass, found.start)?.members.at.get(name)
  return found
}

/** The text of a member of an object; undefined when it is absent, or the text is not an object. */
export function memberText(text: string, name: string): string | undefined {
  const span = topLevelMembers(text)?.at.get(name)
  return span && text.slice(span.start, span.end)
}

/** The value of a member of an object; undefined when it is absent, or the text is not an object. */
export function memberValue(text: string, name: string): unknown {
  const member = memberText(text, name)
  return member === undefined ? undefined : parseRaw(member)
}

/** The elements of a text that is one valid JSON array of at most `most` and nothing else; undefined otherwise. */
export function arrayElements(text: string, most = Number.POSITIVE_INFINITY): string[] | undefined {
  const pass = new JsonPass(text)
  const elements: string[] = []
  const end = pass.skipElements(pass.skipSpace(0), start => {
    if (elements.length === most) return -1
    const end = pass.skipValue(start)
    elements.push(text.slice(start, end))
    return end
  })
  return end >= 0 && pass.skipSpace(end) === text.length ? elements : undefined
}

/** Puts other text in place of spans, which must not overlap. */
export function splice(text: string, edits: readonly { span: Span | undefined; text: string }[]): string {
  let result = ''
  let done = 0
  const wanted = edits.filter(edit => edit.span !== undefined) as { span: Span; text: string }[]
  for (const { span, text: other } of wanted.sort((a, b) => a.span.start - b.span.start)) {
    result += text.slice(done, span.start) + other
    done = span.end
  }
  return result + text.slice(done)
}

/** A copy of raw text that outlives what it was cut from: V8 keeps the whole text for a slice of it. */
export const detached = <T extends string | undefined>(text: T): T =>
  (text === undefined ? text : Buffer.from(text, 'latin1').toString('latin1')) as T

/** Raw text of a string of ours. */
export const toRaw = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

/** The value that raw text stands for. Only for what we need to understand, never for what is passed on. */
export const parseRaw = (text: string): unknown =>
  PLAIN_TEXT.test(text) ? JSON.parse(text) : parseJson(Buffer.from(text, 'latin1').toString('utf8'))

/** Most values that are read are short texts, of ASCII and without escapes. */
const PLAIN_TEXT = /^"[ !#-[\]-~]{0,100}"$/

const NO_MEMBERS: Members['at'] = new Map()

/** Reads an object to write it anew; one without members if the text is not an object. Throws `TooManyNames`. */
export function rawObject(text: string): RawObject {
  const members = topLevelMembers(text)
  if (!members && checkJson(text).hasTooManyNames) throw new TooManyNames()
  return { text, at: members?.at ?? NO_MEMBERS }
}

const asObject = (object: string | RawObject): RawObject =>
  typeof object === 'string' ? rawObject(object) : object

/**
 * Members of `base` with those of `over` put in or in place; both raw objects. Values are not merged. Throws `TooManyNames`,
 * since the members of an object that cannot be read would be lost.
 */
export function mergeRaw(base: string | RawObject, over: string): string {
  const values = new Map<string, string>()
  for (const { text, at } of [asObject(base), asObject(over)]) {
    for (const [name, { key, start, end }] of at) values.set(name, `${key}:${text.slice(start, end)}`)
  }
  return `{${[...values.values()].join(',')}}`
}

/** A raw object without some of its members; the others stay as they were written. Throws `TooManyNames`. */
export function omitRaw(object: string | RawObject, isOmitted: (name: string) => boolean): string {
  const { text, at } = asObject(object)
  const kept = [...at].filter(([name]) => !isOmitted(name))
  return `{${kept.map(([, { key, start, end }]) => `${key}:${text.slice(start, end)}`).join(',')}}`
}
