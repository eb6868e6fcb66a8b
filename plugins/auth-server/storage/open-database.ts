import { closeSync, existsSync, openSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Log } from '../../../src/log.ts'
import { ensurePrivateFolder } from '../../../src/private-folder.ts'
import { withFileLock } from '../../../src/with-file-lock.ts'
import { failures } from './failures.ts'
import { loadSqlite } from './sqlite-module.ts'

const SCHEMA_VERSION = 1

/** How long a statement waits for other processes, which hold the file for one statement each. */
const BUSY_MS = 1000
const LOCK_SECONDS = 20

const SCHEMA = `
  BEGIN IMMEDIATE;
  CREATE TABLE entries (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    expires INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX entries_by_end ON entries (kind, expires);
  CREATE TABLE counts (kind TEXT PRIMARY KEY, entries INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TRIGGER entry_added AFTER INSERT ON entries BEGIN
    INSERT INTO counts VALUES (new.kind, 1) ON CONFLICT DO UPDATE SET entries = entries + 1;
  END;
  CREATE TRIGGER entry_removed AFTER DELETE ON entries BEGIN
    UPDATE counts SET entries = entries - 1 WHERE kind = old.kind;
  END;
  PRAGMA user_version = ${SCHEMA_VERSION};
  COMMIT;
`

/**
 * Opens the file, or makes it (0600). A file that is damaged is renamed and a new one made, with an error in the log:
 * people log in again. Fails with `auth_store_newer`, and with `locked`.
 */
export async function openDatabase(path: string, log: Pick<Log, 'error'>): Promise<DatabaseSync> {
  ensurePrivateFolder(dirname(path))
  return withFileLock(
    `${path}.lock`,
    async () => {
      const problem = problemOf(path)
      if (problem !== undefined) {
        const aside = setAside(path)
        log.error(`${path} is damaged (${problem}); it is now ${aside}. Everybody has to log in again.`)
      }
      return open(path)
    },
    { seconds: LOCK_SECONDS },
  )
}

/** What is wrong with the file; undefined: nothing, or there is none. */
function problemOf(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  try {
    const database = open(path)
    try {
      const { quick_check: found } = database.prepare('PRAGMA quick_check(1)').get() ?? {}
      return found === 'ok' ? undefined : String(found)
    } finally {
      database.close()
    }
  } catch (error) {
    if (isDamage(error)) return error.message
    throw error
  }
}

function open(path: string): DatabaseSync {
  closeSync(openSync(path, 'a', 0o600)) // SQLite gives the files beside it the same mode
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path, { timeout: BUSY_MS })
  try {
    // Survives every kill of a process; a loss of power can take the last moments back.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;')
    const { user_version: version } = database.prepare('PRAGMA user_version').get() ?? {}
    if (Number(version) > SCHEMA_VERSION) throw failures.auth_store_newer({ path })
    if (version === 0) database.exec(SCHEMA)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const isDamage = (error: unknown): error is Error =>
  error instanceof Error &&
  'errcode' in error &&
  typeof error.errcode === 'number' &&
  [11, 26].includes(error.errcode & 0xff)

/** Renames the file and those beside it, so that the next one starts anew. Returns the new name. */
function setAside(path: string): string {
  const aside = `${path}.unreadable-${new Date().toISOString().replace(/[:.]/g, '-')}`
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
  }
  return aside
}
