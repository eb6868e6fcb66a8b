import { isDeepStrictEqual } from 'node:util'
import { addressIn, addressOf, leadingNames, type Server, toEntry, tokenPath } from './entry.ts'
import { type Format, FormatProblem, isObject, type Step, type Value } from './formats/format.ts'
import { isOnlyChange, valueAt } from './formats/only-change.ts'
import { type ClientSpec, pathOf } from './known-clients.ts'

/** Whose the entries of one client's file are, and what they should be. */
export interface Wish {
  /** What the file should hold. */
  readonly wanted: readonly Server[]
  /** What entries of that name led to when we wrote them; an entry that leads elsewhere is the user's. */
  readonly written: ReadonlyMap<string, readonly string[]>
  /** Entries of ours that stay as they are if they are there. */
  readonly kept: ReadonlySet<string>
}

export interface Edited {
  readonly text: string
  /** Entries of ours in the text, with what they lead to. */
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
    const address = addressIn(client, entry)
    return address !== undefined && (wish.written.get(name) ?? []).includes(address)
  }

  for (const name of wish.written.keys()) {
    const entry = valueAt(document, pathOf(client, name))
    if (!isOurs(name, entry) || wish.wanted.some(server => server.name === name)) continue
    if (wish.kept.has(name)) ours.set(name, addressIn(client, entry) ?? '')
    else now = edited(format, now, pathOf(client, name), undefined)
  }
  for (const server of wish.wanted) {
    const path = pathOf(client, server.name)
    const present = valueAt(document, path)
    if (present !== undefined && !isOurs(server.name, present)) {
      if (addressIn(client, present) !== addressOf(client, server)) foreign.push(server.name)
      continue
    }
    now =
      present === undefined
        ? edited(format, now, path, toEntry(client, server))
        : update(client, format, now, path, present, server)
    ours.set(server.name, addressOf(client, server))
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
  let now = before
  for (const member of leadingNames(client)) {
    const has = valueAt(present, [member])
    if (!isDeepStrictEqual(has, entry[member])) now = edited(format, now, [...path, member], entry[member])
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
  if (!client.url) return before
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
