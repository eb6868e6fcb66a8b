import { isObject } from '../lib/is-object.ts'
import { MemberIndex } from '../lib/member-index.ts'
import {
  type PassValue,
  parseRaw,
  type RawObject,
  type Span,
  splice,
  topLevelMembers,
  toRaw,
} from '../lib/raw-json.ts'

/** A JSON-RPC message in raw text (see raw-json.ts), with the positions of its members. */
export type Message = Request | Notification | Response

interface Base {
  readonly text: string
  /** A name that stands twice in one object, at any depth; a request of a client that has one was refused. */
  readonly repeated: string | undefined
  readonly params: Span | undefined
  /** Of `text`. */
  readonly index: MemberIndex
}
export interface Request extends Base {
  readonly kind: 'request'
  readonly id: Span
  /** The id as it was written: quotes, digits and all. */
  readonly idText: string
  readonly method: string
}
export interface Notification extends Base {
  readonly kind: 'notification'
  readonly method: string
}
export interface Response extends Base {
  readonly kind: 'response'
  readonly id: Span | undefined
  readonly idText: string | undefined
  readonly result: Span | undefined
  readonly error: Span | undefined
}

const NAMES = ['jsonrpc', 'id', 'method', 'params', 'result', 'error']

/**
 * Reads one JSON-RPC 2.0 message; undefined when the text is not exactly one.
 *
 * A repeated `id` or `method` is refused: two readers could disagree about which one counts. So is a message with more
 * escaped names than `parseRaw` reads: all that is in a message can be read.
 *
 * @param others as of `topLevelMembers`
 */
export function readMessage(text: string, others?: ReadonlyMap<string, PassValue>): Message | undefined {
  const members = topLevelMembers(text, others)
  if (!members || NAMES.some(name => members.repeated.has(name))) return undefined
  const { at } = members
  const repeated = members.repeatedAnywhere
  const index = new MemberIndex(text)
  const slice = (span: Span | undefined) => span && text.slice(span.start, span.end)
  if (slice(at.get('jsonrpc')) !== '"2.0"') return undefined

  const id = at.get('id')
  const idText = slice(id)
  const validId = idText !== undefined && /^["\d-]/.test(idText)
  const params = at.get('params')
  const methodText = slice(at.get('method'))
  if (methodText !== undefined) {
    if (!methodText.startsWith('"')) return undefined
    const method = parseRaw(methodText) as string
    if (id && idText !== undefined)
      return validId ? { kind: 'request', text, repeated, index, id, idText, method, params } : undefined
    return { kind: 'notification', text, repeated, index, method, params }
  }
  const result = at.get('result')
  const error = at.get('error')
  if ((result === undefined) === (error === undefined)) return undefined
  return {
    kind: 'response',
    text,
    repeated,
    index,
    params,
    id: validId ? id : undefined,
    idText: validId ? idText : undefined,
    result,
    error,
  }
}

/** Parameters that decide what a request does, and to what. */
const DECISIVE = new Set(['name', 'arguments', 'uri', 'taskId', 'requestId', 'cursor', '_meta'])
const ENVELOPE = new Set(NAMES)

/**
 * A member of a message, or of those in a batch, that a server which ignores case (Go's `encoding/json` does) takes for
 * one that decides: `METHOD`, or `Name` among the parameters. Undefined when there is none.
 */
export function otherSpelling(value: unknown): string | undefined {
  const messages: unknown[] = [value]
  for (const one of messages) {
    if (Array.isArray(one)) {
      for (const element of one) if (typeof element === 'object') messages.push(element)
    } else if (isObject(one)) {
      const found =
        foldedIn(one, ENVELOPE) ?? (isObject(one.params) ? foldedIn(one.params, DECISIVE) : undefined)
      if (found !== undefined) return found
    }
  }
  return undefined
}

function foldedIn(object: object, names: ReadonlySet<string>): string | undefined {
  for (const name of Object.keys(object)) {
    // Both steps: the long s has only a capital, and the Kelvin sign only a small letter, of ASCII.
    if (!names.has(name) && names.has(CASED.get(fold(name)) ?? '')) return name
  }
  return undefined
}

const fold = (name: string): string => name.toUpperCase().toLowerCase()
const CASED = new Map([...DECISIVE, ...ENVELOPE].map(name => [fold(name), name]))

/** The position of the parameter at a path. */
export const paramSpan = (message: Message, ...path: string[]): Span | undefined =>
  message.index.find(message.params, path)

/** The parameters, to write them anew; what is no object has no members. */
export const paramsObject = ({ params, index }: Message): RawObject =>
  (params && index.objectAt(params)) ?? NO_PARAMS
const NO_PARAMS: RawObject = { text: '{}', at: new Map() }

/** The value of the parameter at a path; undefined when it is absent. */
export function param(message: Message, ...path: string[]): unknown {
  const span = paramSpan(message, ...path)
  return span && parseRaw(message.text.slice(span.start, span.end))
}

/** The text of the parameter at a path, as it was written. */
export function paramText(message: Message, ...path: string[]): string | undefined {
  const span = paramSpan(message, ...path)
  return span && message.text.slice(span.start, span.end)
}

/**
 * A request with other parameters, which must be a valid raw object.
 *
 * @param params takes no more escaped names to the message than `parseRaw` reads
 */
export function withParams(request: Request, params: string): Request {
  const { id, text } = request
  if (!request.params)
    return readMessage(`${text.slice(0, text.lastIndexOf('}'))},"params":${params}}`) as Request
  const { start } = request.params
  const changed = splice(text, [{ span: request.params, text: params }])
  const shift = id.start > start ? changed.length - text.length : 0
  return {
    ...request,
    text: changed,
    index: new MemberIndex(changed),
    params: { start, end: start + params.length },
    id: { start: id.start + shift, end: id.end + shift },
  }
}

/** The text of a message with another id. */
export const withId = (message: Request | Response, id: string): string =>
  splice(message.text, [{ span: message.id, text: id }])

/** A request with another id. */
export function withNewId(request: Request, idText: string): Request {
  const { id, params, index } = request
  const text = request.text.slice(0, id.start) + idText + request.text.slice(id.end)
  const shift = params && params.start > id.start ? text.length - request.text.length : 0
  return {
    ...request,
    text,
    idText,
    id: { start: id.start, end: id.start + idText.length },
    params: params && { start: params.start + shift, end: params.end + shift },
    index: params ? index.moved(text, params.start, shift) : index,
  }
}

/** The text of a cancel notification with the id that its receiver knows. */
export const withRequestId = (message: Message, id: number): string =>
  splice(message.text, [{ span: paramSpan(message, 'requestId'), text: String(id) }])

/** The key of an id. An id written in two ways ("a" and "\u0061") has one key; 1 and "1" have two. */
export const idKey = (idText: string): string =>
  idText.startsWith('"') ? `s${parseRaw(idText) as string}` : `n${idText}`

/**
 * One line for a stdio server. Line breaks can only stand between tokens (inside strings JSON has them
 * escaped), so a space in their place changes nothing.
 */
export const onOneLine = (text: string): string =>
  text.includes('\n') || text.includes('\r') ? text.replaceAll(/[\r\n]+/g, ' ') : text

/** A result of keelson itself, with an id as the sender of the request wrote it. */
export const resultText = (idText: string, result = '{}'): string =>
  `{"jsonrpc":"2.0","id":${idText},"result":${result}}`

/** An error of keelson itself. An unknown id is left out, not null. */
export function errorText(idText: string | undefined, code: number, message: string, data?: unknown): string {
  const error = JSON.stringify({ code, message, ...(data === undefined ? {} : { data }) })
  return `{"jsonrpc":"2.0",${idText === undefined ? '' : `"id":${idText},`}"error":${toRaw(error)}}`
}
