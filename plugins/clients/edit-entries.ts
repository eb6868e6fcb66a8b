import type { ProxyMode } from '../../src/contracts/run-config.ts'
import { CALLER_TOKEN_HEADER } from '../../src/http/caller-token-header.ts'
import { type Format, FormatProblem, isObject, nest, type Step, type Value } from './formats/format.ts'
import { isOnlyChange, valueAt } from './formats/only-change.ts'
import { type ClientSpec, pathOf } from './known-clients.ts'

/** A running workload as clients reach it. */
export interface Server {
  readonly name: string
  readonly url: string
  readonly mode: ProxyMode
  /** The caller token that the proxy asks for; undefined when it asks for none. */
  readonly token?: string | undefined
}

/** The header that brings the caller token, as a path below an entry. */
const tokenPath = (client: ClientSpec): readonly [string, ...string[]] => {
  const [first = 'headers', ...rest] = client.headers ?? []
  return [first, ...rest, CALLER_TOKEN_HEADER]
}

/** What a client's file says about a server. */
export function toEntry(client: ClientSpec, { name, url, mode, token }: Server): Record<string, Value> {
  const named = client.shape === 'list' ? { name } : {}
  const { type } = client
  const own = { [client.url[mode]]: url, ...(type ? { [type.key]: type[mode] } : {}) }
  const defaults = Object.entries(client.defaults ?? {}).map(([key, value]) => [
    key,
    value === '$name' ? name : value,
  ])
  const [first, ...rest] = tokenPath(client)
  const headers = token === undefined ? {} : { [first]: nest(rest, token) }
  return { ...named, ...own, ...Object.fromEntries(defaults), ...headers }
}

/** The URL of an entry, in whichever member the client keeps it; undefined when there is no such entry. */
export function urlIn(client: ClientSpec, entry: unknown): string | undefined {
  if (!isObject(entry)) return undefined
  const fields = [client.url['streamable-http'], client.url.sse]
  return fields.map(field => entry[field]).find(value => typeof value === 'string')
}

/** Whose the entries of one client's file are, and what they should be. */
export interface Wish {
  /** What the file should hold. */
  readonly wanted: readonly Server[]
  /** URLs that we have given to entries of that name; an entry with another URL is the user's. */
  readonly written: ReadonlyMap<string, readonly string[]>
  /** Entries of ours that stay as they are if they are there. */
  readonly kept: ReadonlySet<string>
}

export interface Edited {
  readonly text: string
  /** Entries of ours in the text, with their URLs. */
  readonly ours: ReadonlyMap<string, string>
  /** Names that are wanted but belong to entries of the user's. */
  readonly foreign: readonly string[]
  /** Nothing stood in the text before but what we wrote. */
  readonly wasOurs: boolean
}

/** Makes a client's text hold what is wished, and changes nothing else. Throws a FormatProblem. */
export function editEntries(client: ClientSpec, format: Format, before: string, wish: Wish): Edited {
  const document = format.parse(before)
  let now: Parsed = { text: before, document }
  const ours = new Map<string, string>()
  const foreign: string[] = []
  const isOurs = (name: string, entry: unknown) => {
    const url = urlIn(client, entry)
    return url !== undefined && (wish.written.get(name) ?? []).includes(url)
  }

  for (const name of wish.written.keys()) {
    const entry = valueAt(document, pathOf(client, name))
    if (!isOurs(name, entry) || wish.wanted.some(server => server.name === name)) continue
    if (wish.kept.has(name)) ours.set(name, urlIn(client, entry) ?? '')
    else now = edited(format, now, pathOf(client, name), undefined)
  }
  for (const server of wish.wanted) {
    const path = pathOf(client, server.name)
    const present = valueAt(document, path)
    if (present !== undefined && !isOurs(server.name, present)) {
      if (urlIn(client, present) !== server.url) foreign.push(server.name)
      continue
    }
    now =
      present === undefined
        ? edited(format, now, path, toEntry(client, server))
        : update(client, format, now, path, present, server)
    ours.set(server.name, server.url)
  }
  const present = [...wish.written.keys()].filter(name =>
    isOurs(name, valueAt(document, pathOf(client, name))),
  )
  return { text: now.text, ours, foreign, wasOurs: isAllOurs(client, format, before, present) }
}

/** Whether nothing is left without these entries, not even a comment. */
function isAllOurs(client: ClientSpec, format: Format, before: string, names: readonly string[]): boolean {
  try {
    const rest = names.reduce((text, name) => format.remove(text, pathOf(client, name)), before)
    const { key } = client
    return ['', '{}', `{"${key}":{}}`, `${key}:{}`, `${key}:[]`].includes(rest.replace(/\s/g, ''))
  } catch (error) {
    if (error instanceof FormatProblem) return false
    throw error
  }
}

/** Changes the members that are ours; what the user or the client has added to the entry stays. */
function update(
  client: ClientSpec,
  format: Format,
  before: Parsed,
  path: readonly Step[],
  present: unknown,
  server: Server,
): Parsed {
  const entry = toEntry(client, server)
  const { type } = client
  const members = new Set([client.url['streamable-http'], client.url.sse, ...(type ? [type.key] : [])])
  let now = before
  for (const member of members) {
    const has = valueAt(present, [member])
    if (has !== entry[member]) now = edited(format, now, [...path, member], entry[member])
  }
  return updateToken(client, format, now, path, present, server)
}

/** Headers of the user's own stay; what was made for ours alone goes with it. */
function updateToken(
  client: ClientSpec,
  format: Format,
  before: Parsed,
  path: readonly Step[],
  present: unknown,
  { token }: Server,
): Parsed {
  const at = tokenPath(client)
  const has = valueAt(present, at)
  if (has === token) return before
  if (token !== undefined) return edited(format, before, [...path, ...at], token)
  let depth = at.length
  while (depth > 1 && holdsOne(valueAt(present, at.slice(0, depth - 1)))) depth--
  return edited(format, before, [...path, ...at.slice(0, depth)], undefined)
}

const holdsOne = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 1

/** Text and what it holds: files may be large, and each is read once. */
interface Parsed {
  readonly text: string
  readonly document: unknown
}

function edited(format: Format, before: Parsed, path: readonly Step[], value: Value | undefined): Parsed {
  const text = value === undefined ? format.remove(before.text, path) : format.set(before.text, path, value)
  const document = format.parse(text)
  if (isOnlyChange(before.document, document, path, value)) return { text, document }
  throw new FormatProblem('it is written in a way that cannot be edited safely')
}
