/** One step into a document: a member's name, or the element of a list whose member `where` equals `is`. */
export type Step = string | { readonly where: string; readonly is: string }

/** What we write: nothing deeper than an entry. */
export type Value = string | number | boolean | readonly string[] | { readonly [key: string]: Value }

/**
 * Edits text of one format in place: only the bytes of what is set or removed change.
 *
 * A byte order mark is the caller's; line breaks and indentation are taken over from the text.
 */
export interface Format {
  /** The document's value; an empty document is an empty object. Throws a FormatProblem. */
  parse(text: string): unknown
  /** Adds what is missing on the way. Throws a FormatProblem when something else stands in the way. */
  set(text: string, path: readonly Step[], value: Value): string
  /** The text as it is when there is nothing at the path. */
  remove(text: string, path: readonly Step[]): string
}

/** Why text cannot be read or edited. */
export class FormatProblem extends Error {
  /** Counted from 1; absent when it is not about one place. */
  readonly line: number | undefined

  constructor(problem: string, line?: number) {
    super(problem)
    this.line = line
  }
}

/** Text to put in place of what stands between two offsets. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Applies splices that do not overlap; at one offset, in the order given. */
export function splice(text: string, splices: readonly Splice[]): string {
  let result = ''
  let at = 0
  for (const { start, end, text: inserted } of splices.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(at, start) + inserted
    at = end
  }
  return result + text.slice(at)
}

/** The line break that the text uses; LF when it has none. */
export const lineBreakOf = (text: string): string => /\r?\n/.exec(text)?.[0] ?? '\n'

/** Offset at which the line of `at` begins. */
export const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1

/** Offset behind the line's last character, before its line break. */
export function lineEnd(text: string, at: number): number {
  const next = text.indexOf('\n', at)
  if (next < 0) return text.length
  return next > at && text[next - 1] === '\r' ? next - 1 : next
}

/** Offset at which the next line begins, or the end of the text. */
export function nextLine(text: string, at: number): number {
  const next = text.indexOf('\n', at)
  return next < 0 ? text.length : next + 1
}

export const lineNumber = (text: string, at: number): number => text.slice(0, at).split('\n').length

/** The white space that the line of `at` begins with. */
export const indentOf = (text: string, at: number): string =>
  /^[ \t]*/.exec(text.slice(lineStart(text, at), at))?.[0] ?? ''

/** The value, inside objects for the steps that are missing. */
export const nest = (steps: readonly string[], value: Value): Value =>
  steps.reduceRight<Value>((inner, step) => ({ [step]: inner }), value)

/** Whether it is an object with members. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
