import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { failures } from '../failures.ts'

/** The file that is locked while the lock file and folders of a project change, by all users that share it. */
export interface ProjectLock {
  readonly folder: string
  readonly name: string
}

/**
 * Returns where the locked file is. It is inside `.git`, where no clone brings files and nothing is committed by
 * mistake. In linked working trees, where `.git` is a file, it is beside the lock file. Fails with
 * `skill_folder_unsafe` for a link.
 */
export async function projectLock(root: string): Promise<ProjectLock> {
  const git = await lstat(join(root, '.git'))
  const lock = git.isDirectory()
    ? { folder: join(root, '.git'), name: 'keelson-skills.lock' }
    : { folder: root, name: 'keelson.lock.yaml.lock' }
  const path = join(lock.folder, lock.name)
  const found = await lstat(path).catch(error => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (found && !found.isFile()) throw failures.skill_folder_unsafe({ path, problem: 'it is not a file' })
  return lock
}
