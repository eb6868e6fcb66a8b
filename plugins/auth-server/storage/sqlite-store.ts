import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { isFailure, messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { CAPACITY, type Capacity } from './capacity.ts'
import { failures } from './failures.ts'
import { openDatabase } from './open-database.ts'
import type { RawStore } from './store.ts'

/** How many expired entries are removed when one of the same kind is added. */
const STEPS = 100

/**
 * Keeps everything in one file (SQLite), for any number of processes of this machine. What is reported as done is in
 * the file. Fails with `auth_store_unavailable` and `auth_store_newer`; a damaged file is set aside.
 */
export async function openSqliteStore({
  path,
  log,
  now = Date.now,
  capacity = CAPACITY,
}: {
  readonly path: string
  readonly log: Pick<Log, 'error'>
  readonly now?: () => number
  readonly capacity?: Capacity
}): Promise<RawStore> {
  const guard = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      if (isFailure(error)) throw error
      throw failures.auth_store_unavailable({ store: path, problem: messageOf(error) }, { cause: error })
    }
  }
  const database = await openDatabase(path, log).catch(error =>
    guard((): never => {
      throw error
    }),
  )
  const sql = prepare(database)
  return {
    encoding: 'base64url',
    async add(kind, key, value, lifetimeMs) {
      const time = now()
      return guard(() =>
        inTransaction(database, () => {
          sql.sweep.run(kind, time, STEPS)
          sql.deleteExpired.run(kind, key, time)
          const { entries } = sql.count.get(kind) ?? { entries: 0 }
          if (Number(entries) >= capacity[kind]) return false
          return sql.add.run(kind, key, value, end(time, lifetimeMs)).changes === 1
        }),
      )
    },
    async get(kind, key) {
      return guard(() => textOf(sql.get.get(kind, key, now())))
    },
    async replace(kind, key, expected, value, lifetimeMs, newKey = key) {
      const time = now()
      return guard(() =>
        inTransaction(database, () => {
          if (newKey !== key) sql.deleteExpired.run(kind, newKey, time)
          return (
            sql.replace.run(newKey, value, end(time, lifetimeMs), kind, key, expected, time).changes === 1
          )
        }),
      )
    },
    async take(kind, key) {
      return guard(() => {
        const row = sql.take.get(kind, key)
        return row && Number(row.expires) > now() ? textOf(row) : undefined
      })
    },
    async delete(kind, key) {
      guard(() => sql.take.get(kind, key))
    },
    async count(kind) {
      return guard(() => Number(sql.count.get(kind)?.entries ?? 0))
    },
    async close() {
      if (database.isOpen) database.close()
    },
  }
}

const end = (time: number, lifetimeMs: number): number => Math.ceil(time + lifetimeMs)

const textOf = (row: Record<string, unknown> | undefined): string | undefined =>
  typeof row?.value === 'string' ? row.value : undefined

function prepare(database: DatabaseSync) {
  const statements = {
    sweep: `DELETE FROM entries WHERE (kind, key) IN
      (SELECT kind, key FROM entries WHERE kind = ? AND expires <= ? ORDER BY expires LIMIT ?)`,
    deleteExpired: 'DELETE FROM entries WHERE kind = ? AND key = ? AND expires <= ?',
    add: 'INSERT OR IGNORE INTO entries (kind, key, value, expires) VALUES (?, ?, ?, ?)',
    get: 'SELECT value FROM entries WHERE kind = ? AND key = ? AND expires > ?',
    replace: `UPDATE OR IGNORE entries SET key = ?, value = ?, expires = ?
      WHERE kind = ? AND key = ? AND value = ? AND expires > ?`,
    take: 'DELETE FROM entries WHERE kind = ? AND key = ? RETURNING value, expires',
    count: 'SELECT entries FROM counts WHERE kind = ?',
  }
  return Object.fromEntries(
    Object.entries(statements).map(([name, text]) => [name, database.prepare(text)]),
  ) as Record<keyof typeof statements, StatementSync>
}

function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}
