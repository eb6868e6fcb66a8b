import { join } from 'node:path'
import { withFileLock } from '../../../src/with-file-lock.ts'

const SECONDS = 120

/** Locks of logins, for all processes of the user. */
export interface LoginLocks {
  /** Changes of one login, one at a time. */
  change<T>(key: string, work: () => Promise<T>): Promise<T>
  /** Logging a person in, which takes up to `waitMs`; changes of the login go on meanwhile. */
  logIn<T>(key: string, waitMs: number, work: () => Promise<T>): Promise<T>
}

export const createLoginLocks = (folder: string): LoginLocks => ({
  change: (key, work) => withFileLock(join(folder, `${key}.lock`), work, { seconds: SECONDS }),
  logIn: (key, waitMs, work) =>
    withFileLock(join(folder, `${key}.login.lock`), work, { seconds: Math.ceil(waitMs / 1000) + SECONDS }),
})
