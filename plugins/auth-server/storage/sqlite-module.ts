type Sqlite = typeof import('node:sqlite')

/**
 * Loads SQLite. Node 22 warns there that the module is experimental, which is nothing to a user: this one warning is
 * left out. The module is loaded at once, so no other code can warn meanwhile.
 */
export function loadSqlite(): Sqlite {
  const { emitWarning } = process
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (!String(warning).includes('SQLite')) Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  try {
    return process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}
