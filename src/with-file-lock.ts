import { failures } from './errors.ts'
import { withLock } from './lib/file-lock.ts'

/** Holds the lock at `path` while the work runs. Fails with `locked` if others hold it that many seconds. */
export const withFileLock = <T>(
  path: string,
  work: () => Promise<T>,
  { seconds }: { seconds: number },
): Promise<T> =>
  withLock(path, work, { timeoutMs: seconds * 1000, onTimeout: () => failures.locked({ path, seconds }) })
