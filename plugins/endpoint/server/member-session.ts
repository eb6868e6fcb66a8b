import { listsOf } from '../../../src/lib/named-lists.ts'
import { detached, memberText, topLevelMembers } from '../../../src/lib/raw-json.ts'
import type { Log } from '../../../src/log.ts'
import type { Message, Response } from '../../../src/net/rpc-message.ts'
import { rawString } from '../names/edit-raw.ts'
import { LIST_KINDS, type ListKind } from '../names/list-kinds.ts'
import { type Catalog, catalogKey, type ServerOffers } from './catalog.ts'
import { type CarryMessages, createMemberConnection, type MemberConnection } from './member-connection.ts'

/** The session of one client at one server of an endpoint. It is opened at the first use, or soon after. */
export interface MemberSession {
  readonly server: string
  /** The result of `initialize` (raw text). Rejects when the server cannot be reached. */
  opened(): Promise<string>
  /** The items of a list (raw texts), all pages of it; kept until `forget`. Rejects as `opened` does. */
  list(method: string): Promise<readonly string[]>
  /** What `list` returned last, also when the server is gone. */
  lastList(method: string): readonly string[] | undefined
  forget(method: string): void
  /** Sends a request of the client, with its own id. Rejects when the server cannot be reached. */
  ask(text: string, idText: string): Promise<Response>
  /** Cancels a request at the server. Nobody waits for its response any more. */
  cancel(idText: string, reason: string): void
  /** Sends a message to the server, if there is a session. */
  tell(text: string): void
  /** As `MemberConnection.pause`; what is opened later is not paused. */
  pause(isPaused: boolean): void
  /** Resolves when the server has been told. */
  close(): Promise<void>
}

/** What one list of a server may have: one that pages for ever ends here. */
const MOST_PAGES = 10_000
const MOST_ITEMS = 20_000
const MOST_BYTES = 32 * 2 ** 20
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}'

/** How soon a session is opened of which another one has told enough, in milliseconds. */
const OPEN_MS = 200

interface OpenSession {
  readonly connection: MemberConnection
  readonly opened: Promise<string>
  /** What it shares with sessions like it; undefined until it is open. */
  offers(): ServerOffers | undefined
}

/** What begins a session. */
export interface Greeting {
  /** Parameters of `initialize`; raw text. */
  readonly initialize: string
  /** The log level that is set after it; raw text. */
  readonly level: string | undefined
  /** The header by which the client has logged in. */
  readonly authorization: string | undefined
}

/** It is long because all of it reads and changes the state of the one session. */
export function createMemberSession(options: {
  server: string
  carry: CarryMessages
  greeting: () => Greeting
  onMessage: (message: Exclude<Message, Response>) => void
  catalog: Catalog
  log: Log
}): MemberSession {
  const { server, greeting, catalog, log } = options
  let count = 0
  let session: OpenSession | undefined
  let opening: NodeJS.Timeout | undefined
  /** Lists in which this session is told to be like no other. */
  const own = new Set<string>()
  const lists = new Map<string, Promise<readonly string[]>>()
  const last = new Map<string, readonly string[]>()

  /** Sends a request of the endpoint itself. Fails with the server's error. Returns the result (raw text). */
  async function request(connection: MemberConnection, method: string, params: string): Promise<string> {
    count += 1
    const idText = `"keelson-${count}"`
    const text = `{"jsonrpc":"2.0","id":${idText},"method":"${method}","params":${params}}`
    const { text: response, result } = await connection.ask(text, idText)
    if (!result) throw new Error(`${method}: ${memberText(memberText(response, 'error') ?? '{}', 'message')}`)
    return response.slice(result.start, result.end)
  }

  const key = () => catalogKey(server, greeting())

  function open(): OpenSession {
    clearTimeout(opening)
    const connection = createMemberConnection(options)
    const { initialize, level } = greeting()
    let entry: ReturnType<Catalog['enter']> | undefined
    const opened = (async () => {
      const result = await request(connection, 'initialize', initialize)
      connection.tell(INITIALIZED)
      if (level !== undefined && has(result, 'logging'))
        await request(connection, 'logging/setLevel', `{"level":${level}}`).catch(() => undefined)
      return result
    })()
    const mine: OpenSession = { connection, opened, offers: () => entry?.offers }
    const drop = () => {
      if (session === mine) session = undefined
      own.clear()
      entry?.leave()
      lists.clear()
      connection.close()
    }
    opened.then(result => {
      if (session === mine) entry = catalog.enter(key(), result)
    }, drop)
    void connection.ended.then(drop)
    return mine
  }

  const current = () => {
    session ??= open()
    return session
  }

  /** What other sessions were told. This one is opened soon, to hear of changes. */
  function known(): ServerOffers | undefined {
    const offers = session?.offers() ?? catalog.find(key())
    if (offers && !session) opening ??= setTimeout(current, OPEN_MS).unref()
    return offers
  }

  async function fetchList(method: string, { list, capability }: ListKind): Promise<readonly string[]> {
    const shared = own.has(method) ? undefined : known()?.lists.get(method)
    if (shared) return shared
    const { connection, opened, offers } = current()
    if (!has(await opened, capability)) return []
    const items: string[] = []
    let cursor: string | undefined
    let bytes = 0
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const result = await request(connection, method, cursor === undefined ? '{}' : `{"cursor":${cursor}}`)
      const elements = listsOf(result, new Set([list])).get(list)?.elements
      if (!elements) throw new Error(`${method}: its result has no list "${list}"`)
      for (const { start, end } of elements) items.push(detached(result.slice(start, end)))
      bytes += result.length
      if (items.length > MOST_ITEMS || bytes > MOST_BYTES) throw new Error(`${method}: the list is too long`)
      const next = memberText(result, 'nextCursor')
      if (next === undefined || next === 'null' || next === cursor) break
      cursor = next
    }
    if (!own.has(method)) offers()?.lists.set(method, items)
    return items
  }

  return {
    server,
    opened: async () => known()?.initialized ?? current().opened,
    list(method) {
      const asked = lists.get(method)
      if (asked) return asked
      const kind = LIST_KINDS[method] as ListKind
      const items = fetchList(method, kind)
      lists.set(method, items)
      items.then(
        found => last.set(method, found),
        error => {
          if (lists.get(method) === items) lists.delete(method)
          log.warn(`${server}: ${error instanceof Error ? error.message : error}`)
        },
      )
      return items
    },
    lastList: method => last.get(method),
    forget(method) {
      own.add(method)
      session?.offers()?.lists.delete(method)
      lists.delete(method)
    },
    async ask(text, idText) {
      const { connection, opened } = current()
      await opened
      return connection.ask(text, idText)
    },
    cancel(idText, reason) {
      session?.connection.forget(idText)
      const params = `{"requestId":${idText},"reason":${rawString(reason)}}`
      session?.connection.tell(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`)
    },
    tell: text => session?.connection.tell(text),
    pause: isPaused => session?.connection.pause(isPaused),
    async close() {
      clearTimeout(opening)
      const connection = session?.connection
      session = undefined
      connection?.close()
      await connection?.ended
    },
  }
}

/** Whether a result of `initialize` declares a capability. */
const has = (initializeResult: string, capability: string): boolean =>
  topLevelMembers(memberText(initializeResult, 'capabilities') ?? '{}')?.at.has(capability) ?? false
