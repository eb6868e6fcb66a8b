import type { Exchange, RewriteResult } from '../../../src/contracts/pipeline.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import { type NamedList, type NamedLists, noteLists } from '../../../src/lib/named-lists.ts'
import { arrayElements, splice, topLevelMembers } from '../../../src/lib/raw-json.ts'
import type { Log } from '../../../src/log.ts'
import { UnreadableResult } from '../../../src/net/list-result.ts'
import { INTERNAL_ERROR, SERVER_ERROR } from '../../../src/net/rpc-error-codes.ts'
import { errorText, idKey, onOneLine, readMessage } from '../../../src/net/rpc-message.ts'

/** The request whose response is awaited. */
export interface Awaited {
  readonly method: string
  /** The id as its client wrote it. */
  readonly idText: string
  readonly idKey: string
}

/** Changes the response to one exchange, or the messages of one event stream. */
export interface Rewriting {
  /** Undefined on streams that carry responses to other requests. */
  readonly awaited: Awaited | undefined
  /** Whether results are changed now. While not, a stream passes as bytes. */
  isNeeded(): boolean
  /**
   * The text of the server (one message, or an array of them) as the client may have it, on one line. What cannot be
   * read becomes an error. Never rejects.
   */
  text(raw: string): Promise<string>
  /** Adds a message of ours to the events of the response, while they are written. */
  send?: ((text: string) => void) | undefined
  /** Whether a text that was returned is the awaited response, or an array of messages. */
  isAnswered(): boolean
  /** The error in place of a response that cannot be read. */
  unreadable(problem: string): string
}

/** Members that tell a list whose request is not known any more. */
const LISTS: ReadonlyMap<string, string> = new Map([
  ['tools', 'tools/list'],
  ['prompts', 'prompts/list'],
  ['resources', 'resources/list'],
  ['resourceTemplates', 'resources/templates/list'],
])
const NAMES = new Set(LISTS.keys())

export function createRewriting(options: {
  exchange: Exchange
  awaited: Awaited | undefined
  find: (method: string) => readonly RewriteResult[]
  isNeeded: () => boolean
  log: Log
}): Rewriting {
  const { exchange, awaited, find, log } = options

  let isAnswered = false

  function unreadable(problem: string, idText = awaited?.idText): string {
    isAnswered ||= idText === awaited?.idText
    log.warn('a response of the server was withheld', { method: awaited?.method, problem })
    return errorText(idText, SERVER_ERROR, `The response of the server was withheld: ${problem}`)
  }

  async function apply(
    result: string,
    { methods, lists, idText }: { methods: readonly string[]; lists: NamedLists; idText: string | undefined },
  ) {
    try {
      let changed = result
      for (const rewrite of methods.flatMap(find))
        changed = await rewrite(changed, exchange, changed === result ? lists : undefined)
      return { changed }
    } catch (error) {
      if (error instanceof UnreadableResult) return { refused: unreadable(error.message, idText) }
      log.warn('a response of the server was withheld', { methods, problem: messageOf(error) })
      const text = isFailure(error) ? error.message : 'Internal error'
      return { refused: errorText(idText, INTERNAL_ERROR, text) }
    }
  }

  async function one(raw: string): Promise<string> {
    const lists = new Map<string, NamedList>()
    const message = readMessage(raw, new Map([['result', noteLists(NAMES, lists)]]))
    if (!message) return unreadable('it is not a JSON-RPC message')
    if (message.kind !== 'response') {
      // Two readers could disagree whether it is a response.
      return topLevelMembers(raw)?.at.has('result') ? unreadable('it has a method and a result') : raw
    }
    const { result: span, idText, repeated } = message
    const isAwaited = awaited && idText !== undefined && idKey(idText) === awaited.idKey
    isAnswered ||= isAwaited === true
    if (!span) return raw
    if (repeated !== undefined) return unreadable('a member stands twice in one object', idText)
    const result = raw.slice(span.start, span.end)
    const methods = isAwaited ? [awaited.method] : [...lists.keys()].flatMap(name => LISTS.get(name) ?? [])
    if (methods.length === 0) return raw
    const outcome = await apply(result, { methods, lists, idText })
    return outcome.refused ?? splice(raw, [{ span, text: outcome.changed as string }])
  }

  return {
    awaited,
    isNeeded: options.isNeeded,
    isAnswered: () => isAnswered,
    unreadable,
    async text(raw) {
      const elements = raw.trimStart().startsWith('[') ? arrayElements(raw) : undefined
      if (!elements) return onOneLine(await one(raw))
      isAnswered = true
      const texts: string[] = []
      for (const element of elements) texts.push(await one(element))
      return onOneLine(`[${texts.join(',')}]`)
    },
  }
}
