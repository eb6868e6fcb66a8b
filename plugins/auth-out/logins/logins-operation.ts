import type { SupervisorOperation } from '../../../src/contracts/supervisor-operation.ts'
import { failures } from '../failures.ts'
import type { OwnLoginMemory } from './login-memory.ts'
import { isRenewable, type RememberedLogin } from './login-record.ts'

export const LOGINS_OPERATION = 'remote-logins'

type Entry = readonly [key: string, login: RememberedLogin]

/** What is asked of the supervisor about the logins in its memory. Both sides belong to one user. */
export type LoginsInput =
  | { readonly ask: 'list' }
  | { readonly ask: 'set'; readonly logins: readonly Entry[] }
  /** Those of the supervisor before. */
  | { readonly ask: 'take-over'; readonly logins: readonly Entry[] }
  | { readonly ask: 'remove'; readonly key: string }

export interface LoginsResult {
  readonly logins: readonly Entry[]
}

/**
 * Keeps logins in the memory of the supervisor, where no secrets provider can. A login that comes when they have been
 * handed to another supervisor is refused with `logins_moved`: it would end with this process.
 */
export function createLoginsOperation(memory: OwnLoginMemory): SupervisorOperation {
  let isOver = false

  async function keep(logins: readonly Entry[]): Promise<void> {
    for (const [key, login] of logins) await memory.set(key, login)
    if (isOver) throw failures.logins_moved()
  }

  return {
    name: LOGINS_OPERATION,
    async handle(input): Promise<LoginsResult> {
      const asked = input as LoginsInput
      if (asked.ask === 'set') await keep(asked.logins)
      if (asked.ask === 'take-over') {
        for (const [key, login] of asked.logins) await memory.takeOver(key, login)
      }
      if (asked.ask === 'remove') await memory.remove(asked.key)
      return { logins: asked.ask === 'list' ? [...memory.all] : [] }
    },
    isNeeded: () =>
      [...memory.all.values()].some(
        ({ record, tokens }) =>
          isRenewable(record) || (tokens.expiresAt ?? Number.POSITIVE_INFINITY) > Date.now(),
      ),
    takeAlong() {
      isOver = true
      return memory.all.size
        ? ({ ask: 'take-over', logins: [...memory.all] } satisfies LoginsInput)
        : undefined
    },
  }
}
