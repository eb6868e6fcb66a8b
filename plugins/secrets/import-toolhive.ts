import { readUserBytes } from '../../src/user-file.ts'
import { failures } from './failures.ts'
import type { ProviderInUse } from './provider-in-use.ts'
import { openToolhiveFile } from './toolhive-file.ts'

/**
 * Stores everything that a file of ToolHive's holds, and returns the names. Nothing is stored when a name
 * is taken by another value, unless `replace`. Killed in between it can simply be done again.
 */
export async function importToolhive(
  inUse: ProviderInUse,
  path: string,
  password: () => Promise<string>,
  { replace }: { replace: boolean },
): Promise<string[]> {
  const set = await inUse.capable('set', 'store')
  const { provider } = await inUse.get()
  const bytes = await readUserBytes(path, 'The file') // before somebody types a password for it
  const imported = openToolhiveFile(bytes, await password())
  if (!imported) throw failures.secrets_import_refused({ path })
  const conflicts: string[] = []
  for (const [name, value] of imported) {
    const there = await provider.find(name)
    if (there !== undefined && there !== value && !replace) conflicts.push(name)
  }
  if (conflicts.length) throw failures.secrets_import_conflict({ names: conflicts.sort() })
  for (const [name, value] of imported) await set(name, value)
  return [...imported.keys()].sort()
}
