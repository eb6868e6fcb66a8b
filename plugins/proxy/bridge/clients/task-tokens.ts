import { detached } from '../../../../src/lib/raw-json.ts'
import type { Session } from './client-sessions.ts'

/** A client's progress token of a task, and the session of the client. */
export interface TaskToken {
  readonly session: Session
  /** The token as the client wrote it. */
  readonly token: string
}

/** The progress tokens of tasks, which stay valid after the response to the request that carried them. */
export interface TaskTokens {
  /** `id` is the progress token that the server knows, which is the id of the call. */
  remember(id: number, token: TaskToken): void
  /** Undefined when the token is unknown, or its session is closed. */
  find(id: number): TaskToken | undefined
  clear(): void
}

const MAX = 10_000
const LONGEST = 1024

/** Keeps 10 000 tokens; the oldest are forgotten first. */
export function createTaskTokens(): TaskTokens {
  const tokens = new Map<number, TaskToken>()
  return {
    remember(id, { session, token }) {
      if (token.length > LONGEST) return
      tokens.set(id, { session, token: detached(token) })
      for (const oldest of tokens.keys()) {
        if (tokens.size <= MAX) break
        tokens.delete(oldest)
      }
    },
    find(id) {
      const found = tokens.get(id)
      return found?.session.closed ? undefined : found
    },
    clear: () => tokens.clear(),
  }
}
