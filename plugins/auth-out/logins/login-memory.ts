import { processIdentity } from '../../../src/lib/process-identity.ts'
import type { LoginNotes } from './login-notes.ts'
import type { RememberedLogin } from './login-record.ts'

/** Logins that are on no disk: they end with the process that has them. */
export interface LoginMemory {
  find(key: string): Promise<RememberedLogin | undefined>
  set(key: string, login: RememberedLogin): Promise<void>
  remove(key: string): Promise<void>
  list(): Promise<readonly (readonly [key: string, login: RememberedLogin])[]>
}

/** The memory of this process. The notes say that it has the login. */
export interface OwnLoginMemory extends LoginMemory {
  readonly all: ReadonlyMap<string, RememberedLogin>
  /** Keeps a login of another process, unless somebody has logged out or in meanwhile. */
  takeOver(key: string, login: RememberedLogin): Promise<void>
}

export function createLoginMemory(notes: LoginNotes): OwnLoginMemory {
  const all = new Map<string, RememberedLogin>()
  const keptBy = processIdentity(process.pid) ?? String(process.pid)

  async function set(key: string, login: RememberedLogin): Promise<void> {
    const { loggedInAt } = login.record
    const before = await notes.read(key)
    await notes.write(key, { ...(before?.loggedInAt === loggedInAt ? before : {}), loggedInAt, keptBy })
    all.set(key, login)
  }

  return {
    all,
    find: async key => all.get(key),
    set,
    async takeOver(key, login) {
      if ((await notes.read(key))?.loggedInAt === login.record.loggedInAt) await set(key, login)
    },
    async remove(key) {
      all.delete(key)
    },
    list: async () => [...all],
  }
}
