import { createHash } from 'node:crypto'
import { lstat, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, parse } from 'node:path'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { toTextCheck, wordOrEmpty } from '../../../src/lib/text-schema.ts'
import { failures } from '../failures.ts'

/** For whom skills are installed: for the user everywhere, or in one project. */
export type Place = { readonly scope: 'user' } | { readonly scope: 'project'; readonly root: string }

/** The schema of a scope in requests; empty: not given. */
export const scopeWord = wordOrEmpty(['user', 'project'])
const isScope = toTextCheck(scopeWord)

export const USER: Place = { scope: 'user' }

/**
 * Returns the place that a request means: with only a project root the project, without both the user.
 * Fails with `skill_scope_invalid`, or with `skill_project_invalid` when the root is not the top folder of
 * a project.
 */
export async function toPlace(wanted: {
  scope?: string | undefined
  projectRoot?: string | undefined
}): Promise<Place> {
  const { scope = '', projectRoot: root = '' } = wanted
  if (!isScope(scope)) throw failures.skill_scope_invalid({ problem: `"${scope}" is not a scope.` })
  if (scope === 'user' && root)
    throw failures.skill_scope_invalid({ problem: 'A project root requires the scope "project".' })
  if (scope === 'project' && !root)
    throw failures.skill_scope_invalid({ problem: 'The scope "project" needs a project root.' })
  if (!root) return USER
  await assertProject(root)
  return { scope: 'project', root: join(root, '.').replace(/(?<=.)[/\\]+$/, '') }
}

/** Returns the nearest folder, upwards, that has `.git` (a file in a linked working tree); undefined when none has. */
export async function findProject(from: string): Promise<string | undefined> {
  const start = await realpath(from)
  for (let folder = start; ; folder = dirname(folder)) {
    if (await isThere(join(folder, '.git'))) return folder
    if (folder === parse(folder).root) return undefined
  }
}

/** Returns the name of a place for file names. */
export const keyOf = (place: Place): string =>
  place.scope === 'user' ? 'user' : createHash('sha256').update(place.root).digest('hex').slice(0, 24)

/** Returns the words for a place in messages. */
export const describePlace = (place: Place): string =>
  place.scope === 'user' ? 'for the user' : `in ${place.root}`

async function assertProject(root: string): Promise<void> {
  const refuse = (problem: string) => failures.skill_project_invalid({ root, problem })
  if (root.includes('\0')) throw failures.skill_project_invalid({ root: '', problem: 'it has a NUL byte' })
  if (!isAbsolute(root)) throw refuse('it is not an absolute path')
  if (root.split(/[\\/]/).includes('..')) throw refuse('it has ".." in it')
  const facts = await stat(root).catch(error => {
    if (isMissing(error)) throw refuse('it does not exist')
    throw refuse('it cannot be looked at')
  })
  if (!facts.isDirectory()) throw refuse('it is not a folder')
  const plain = join(root, '.').replace(/(?<=.)[/\\]+$/, '')
  if ((await realpath(root)) !== plain) throw refuse('there is a symbolic link on its path')
  if (!(await isThere(join(root, '.git')))) throw refuse('it has no .git')
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
