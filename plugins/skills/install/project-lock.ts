import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { failures } from '../failures.ts'

/** A file that is held while a project's lock file and folders change, by whoever has the project. */
export interface ProjectLock {
  readonly folder: string
  readonly name: string
}

/**
 * Inside of `.git`, where nothing can come with a clone and nothing is committed by mistake; beside the
 * lock file in linked working trees, where `.git` is a file. Fails with `skill_folder_unsafe` for a link.
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
  if (found && !found.isFile())
    throw failures.skill_folder_unsafe({ path, problem: 'it should be a file, and is none' })
  return lock
}
