import { arrayElements, parseRaw, splice, topLevelMembers } from '../../../src/lib/raw-json.ts'
import { INVALID_PARAMS } from '../../../src/net/rpc-error-codes.ts'
import { errorText, param, type Request, type Response, readMessage } from '../../../src/net/rpc-message.ts'
import type { TaskOwners } from './task-owners.ts'

/** Whether a text may speak of tasks. Names can be written with escapes, and with NULs in other encodings. */
export const mayNameTask = (text: string | Buffer): boolean =>
  text.includes('task') || text.includes('\\u') || text.includes('\0')

/** The error for a task that there is not (MCP 2025-11-25, tasks): other callers must not learn that it exists. */
export const noSuchTask = (idText: string | undefined): string =>
  errorText(idText, INVALID_PARAMS, 'Failed to retrieve task: Task not found')

/** Whether a request is about a task that is not the caller's. */
export const isForeignTask = (request: Request, owner: string, tasks: TaskOwners): boolean =>
  request.method.startsWith('tasks/') &&
  request.method !== 'tasks/list' &&
  !tasks.isOf(param(request, 'taskId'), owner)

/**
 * Takes the text of a message to a caller: remembers the task that a response creates as theirs, and leaves the tasks
 * of others out of lists. Undefined: it is not one message.
 */
export function withOwnTasks(text: string, owner: string, tasks: TaskOwners): string | undefined {
  const message = readMessage(text)
  if (message?.kind !== 'response') return message && text
  const created = valueAt(message, ['task', 'taskId']) ?? valueAt(message, ['taskId'])
  if (typeof created === 'string') tasks.remember(created, owner)
  const list = message.index.find(message.result, ['tasks'])
  const all = list && arrayElements(text.slice(list.start, list.end))
  if (!all) return text
  const own = all.filter(task => {
    const id = idOf(task)
    return id === undefined || tasks.isOf(id, owner)
  })
  return own.length === all.length ? text : splice(text, [{ span: list, text: `[${own.join(',')}]` }])
}

function valueAt({ text, index, result }: Response, path: readonly string[]): unknown {
  const span = index.find(result, path)
  return span && parseRaw(text.slice(span.start, span.end))
}

function idOf(task: string): unknown {
  const span = topLevelMembers(task)?.at.get('taskId')
  return span && parseRaw(task.slice(span.start, span.end))
}
