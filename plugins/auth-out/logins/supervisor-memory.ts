import type { Supervisor } from '../../../src/contracts/workload.ts'
import type { LoginMemory } from './login-memory.ts'
import { LOGINS_OPERATION, type LoginsInput, type LoginsResult } from './logins-operation.ts'

/** The logins in the memory of the supervisor, asked for over its socket; it is started to keep one. */
export function createSupervisorMemory(supervisor: Supervisor): LoginMemory {
  async function ask(input: LoginsInput): Promise<LoginsResult | undefined> {
    const start = input.ask === 'set'
    return (await supervisor.call(LOGINS_OPERATION, input, { start })) as LoginsResult | undefined
  }
  const list = async () => (await ask({ ask: 'list' }))?.logins ?? []
  return {
    list,
    find: async key => (await list()).find(([other]) => other === key)?.[1],
    set: async (key, login) => void (await ask({ ask: 'set', logins: [[key, login]] })),
    remove: async key => void (await ask({ ask: 'remove', key })),
  }
}
