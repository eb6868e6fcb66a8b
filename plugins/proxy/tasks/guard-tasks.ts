import type { IncomingHttpHeaders } from 'node:http'
import type { Exchange } from '../../../src/contracts/pipeline.ts'
import { INVALID_REQUEST } from '../../../src/net/rpc-error-codes.ts'
import { readMessage } from '../../../src/net/rpc-message.ts'
import { isEventStream } from '../../../src/net/sse.ts'
import { isPlainText } from '../plain-text.ts'
import { hasBody } from '../request-body.ts'
import { Refusal, rpcRefusal } from '../request-refusal.ts'
import { isForeignTask, mayNameTask, noSuchTask, withOwnTasks } from './task-messages.ts'
import type { TaskOwners } from './task-owners.ts'
import { createTaskTransform } from './task-transform.ts'

/** Makes what changes the bytes of a response; undefined: it passes as it is. */
export type OwnTasks = (headers: IncomingHttpHeaders) => ((chunk: Buffer | undefined) => Buffer) | undefined

/**
 * Keeps the tasks of an HTTP server apart by their owners, since the server does not know who calls. Reads the body.
 * Refuses a request about a task that is not the caller's; undefined: the request has nothing to do with tasks.
 */
export async function guardTasks(
  exchange: Exchange,
  owner: string,
  tasks: TaskOwners,
): Promise<OwnTasks | undefined> {
  const { request } = exchange
  const take = (text: string) => withOwnTasks(text, owner, tasks)
  // A stream of this kind may repeat responses.
  if (request.method === 'GET') return transformOf(take, { isList: false })
  if (!hasBody(request)) return undefined
  const body = await exchange.body()
  if (!mayNameTask(body) && isPlainText(request, body)) return undefined
  const message = readMessage((await exchange.rawText()) ?? '')
  // A server could read a batch, or a text in another encoding, as a request about a task.
  if (!message) throw rpcRefusal(400, INVALID_REQUEST, 'The body is not one JSON-RPC message')
  if (message.kind !== 'request') return undefined
  if (isForeignTask(message, owner, tasks)) {
    throw new Refusal(200, {
      type: 'application/json',
      body: Buffer.from(noSuchTask(message.idText), 'latin1'),
    })
  }
  return transformOf(take, { isList: message.method === 'tasks/list' })
}

const transformOf =
  (take: (text: string) => string | undefined, { isList }: { isList: boolean }): OwnTasks =>
  headers => {
    const { 'content-encoding': encoding = 'identity', 'content-type': type } = headers
    // It was asked for as it is: what cannot be read holds no list.
    if (encoding !== 'identity') return isList ? () => Buffer.alloc(0) : undefined
    return createTaskTransform({ isStream: isEventStream(type), isList, take })
  }
