import { setTimeout as delay } from 'node:timers/promises'
import type { Supervisor } from '../../../src/contracts/workload.ts'
import { isFailure } from '../../../src/errors.ts'
import type { LoginMemory } from './login-memory.ts'
import { LOGINS_OPERATION, type LoginsInput, type LoginsResult } from './logins-operation.ts'

/** How often a supervisor that is being replaced is waited for, and how long each time, in milliseconds. */
const TIMES = 20
const MOVE_MS = 250

/** The logins in the memory of the supervisor, asked for over its socket; it is started to keep one. */
export function createSupervisorMemory(supervisor: Supervisor): LoginMemory {
  async function ask(input: LoginsInput): Promise<LoginsResult | undefined> {
    const start = input.ask === 'set'
    return (await supervisor.call(LOGINS_OPERATION, input, { start })) as LoginsResult | undefined
  }
  /** The supervisor may be replaced at the moment: then the next one is told. */
  async function set(logins: Extract<LoginsInput, { ask: 'set' }>['logins']): Promise<void> {
    for (let left = TIMES; ; left--) {
      try {
        return void (await ask({ ask: 'set', logins }))
      } catch (error) {
        if (!isFailure(error, 'logins_moved') || left === 0) throw error
        await delay(MOVE_MS)
      }
    }
  }
  const list = async () => (await ask({ ask: 'list' }))?.logins ?? []
  return {
    list,
    find: async key => (await list()).find(([other]) => other === key)?.[1],
    set: (key, login) => set([[key, login]]),
    remove: async key => void (await ask({ ask: 'remove', key })),
  }
}
