import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { folderName, toImage } from '../../../plugins/runtime-process/packages/installed-package.ts'

const fixtures = new URL('../../../fixtures/hostile/sandbox/', import.meta.url).pathname

/** The reference under which a planted package is run. */
export const STRANGER = 'npx://stranger@1.0.0'

/**
 * Puts a package of a stranger where an installation would have put it, and returns its folder: what comes
 * after the installation is tried here. Its program is `fixtures/hostile/sandbox/shell-server.mjs`.
 */
export async function plantPackage(home: string): Promise<string> {
  const pinned = {
    scheme: 'npx' as const,
    name: 'stranger',
    extras: [],
    version: '1.0.0',
    buildWith: [],
    local: false,
  }
  const image = toImage(pinned)
  const folder = join(home, '.cache/keelson/packages/npx', folderName(image))
  await mkdir(folder, { recursive: true })
  for (const file of ['shell-server.mjs', 'canary.cjs', 'try-calls.py']) {
    await copyFile(join(fixtures, file), join(folder, file))
  }
  const record = {
    image,
    name: 'stranger',
    version: '1.0.0',
    installed_at: '2026-01-01T00:00:00Z',
    command: ['shell-server.mjs'],
    node: [],
    needs: [],
  }
  await writeFile(join(folder, 'keelson.json'), JSON.stringify(record))
  return folder
}
