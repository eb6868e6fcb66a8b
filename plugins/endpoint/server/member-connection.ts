import { PassThrough } from 'node:stream'
import { messageOf } from '../../../src/errors.ts'
import { memberValue } from '../../../src/lib/raw-json.ts'
import type { Log } from '../../../src/log.ts'
import { createFramer } from '../../../src/net/framing.ts'
import { idKey, type Message, type Response, readMessage } from '../../../src/net/rpc-message.ts'

/** Carries the messages of one stdio client to a workload and back (`proxy stdio`), until the signal aborts. */
export type CarryMessages = (streams: {
  stdin: PassThrough
  stdout: PassThrough
  signal: AbortSignal
  /** Called before an error response is written to a request that the server has not responded to. */
  onLost: (idText: string) => void
}) => Promise<void>

/** The connection of one client to one server of an endpoint. */
export interface MemberConnection {
  /**
   * Sends a request whose id no other request in flight has. Rejects when the server cannot be reached, or the connection
   * ends before the response.
   */
  ask(text: string, idText: string): Promise<Response>
  /** Waits no longer for the response to a request. Its promise stays as it is. */
  forget(idText: string): void
  /** Sends a message that has no response. */
  tell(text: string): void
  /** While it is paused, nothing of the server is read. */
  pause(isPaused: boolean): void
  /** Resolves when the connection has ended; never rejects. */
  readonly ended: Promise<void>
  close(): void
}

const LONGEST_LINE = 64 * 2 ** 20

export function createMemberConnection(options: {
  carry: CarryMessages
  /** Called with each message that is no response. */
  onMessage: (message: Exclude<Message, Response>) => void
  log: Log
}): MemberConnection {
  const { carry, onMessage, log } = options
  const abort = new AbortController()
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  const waiting = new Map<string, PromiseWithResolvers<Response>>()
  const lost = new Set<string>()
  let problem: string | undefined

  function read(line: string): void {
    const message = readMessage(line)
    if (!message) return
    if (message.kind === 'response') {
      const key = message.idText === undefined ? '' : idKey(message.idText)
      const asked = waiting.get(key)
      if (lost.delete(key)) asked?.reject(new Error(problemIn(message)))
      else asked?.resolve(message)
      waiting.delete(key)
    } else onMessage(message)
  }

  function end(reason: string): void {
    problem ??= reason
    for (const { reject } of waiting.values()) reject(new Error(problem))
    waiting.clear()
  }

  const framer = createFramer({ maxLine: LONGEST_LINE, onLine: read, onOversize: () => undefined })
  stdout.on('data', (chunk: Buffer) => framer.push(chunk))
  for (const stream of [stdin, stdout]) stream.on('error', () => undefined) // shows in the end of `carry`
  const ended = carry({ stdin, stdout, signal: abort.signal, onLost: idText => void lost.add(idKey(idText)) })
    .catch((error: unknown) => log.debug(`The connection to a server ended: ${messageOf(error)}`))
    .then(() => end('the connection to the server has ended'))

  return {
    ask(text, idText) {
      if (problem !== undefined) return Promise.reject(new Error(problem))
      const response = Promise.withResolvers<Response>()
      waiting.set(idKey(idText), response)
      stdin.write(`${text}\n`, 'latin1')
      return response.promise
    },
    forget: idText => void waiting.delete(idKey(idText)),
    tell: text => void (problem === undefined && stdin.write(`${text}\n`, 'latin1')),
    pause: isPaused => void (isPaused ? stdout.pause() : stdout.resume()),
    ended,
    close() {
      end('the connection to the server was closed')
      abort.abort()
    },
  }
}

const problemIn = ({ text, error }: Response): string =>
  String(memberValue(error ? text.slice(error.start, error.end) : '{}', 'message'))
