import { lstat, readdir } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { isFailure } from '../../../src/errors.ts'
import { describeProblem, treeProblems } from './check-tree.ts'
import { describeFinding, examineSkill, type Finding, toFinding } from './examine-skill.ts'
import { printable } from './member-path.ts'
import { readSkillFile } from './parse-skill.ts'
import { isHidden, walkTree } from './walk-tree.ts'

/** The errors and warnings about a skill. Each is a sentence that says where, what, and what to do. */
export interface Validation {
  readonly valid: boolean
  readonly errors: string[]
  readonly warnings: string[]
}

/** Most findings of one kind that are listed; further ones are only counted. */
const MOST = 20

/**
 * Checks the skill in a folder by every rule. A missing folder or SKILL.md is returned as an error. Fails
 * with `skill_unreadable` only when SKILL.md is a file that may not be read.
 */
export async function validateSkill(folder: string): Promise<Validation> {
  const errors: string[] = []
  const warnings: string[] = []
  const skillFile = await lstat(join(folder, 'SKILL.md')).catch(() => undefined)
  if (!skillFile) return { valid: false, errors: [await whyMissing(folder)], warnings }

  // A skill can be the top folder of a repository; its .git does not belong to the skill.
  const skip = (path: string) => path === '.git'
  const problems = await problemsOf(folder, skip)
  errors.push(...cut(problems))
  if (skillFile.isDirectory()) errors.push('SKILL.md is not a file.') // links and special files are among the problems already
  if (!skillFile.isFile()) return { valid: false, errors, warnings }
  const bytes = await readSkillFile(folder)
  try {
    const { findings } = examineSkill(bytes, { folderName: basename(resolve(folder)) })
    const sorted = (isWanted: (finding: Finding) => boolean) => findings.filter(isWanted).map(describeFinding)
    errors.push(...sorted(({ severity }) => severity !== 'warning'))
    warnings.push(...sorted(({ severity }) => severity === 'warning'))
  } catch (error) {
    errors.push(toFinding(error))
  }
  if (problems.length === 0) warnings.push(...cut(await executables(folder)))
  return { valid: errors.length === 0, errors, warnings }
}

async function problemsOf(folder: string, skip: (path: string) => boolean): Promise<string[]> {
  const problems: string[] = []
  try {
    for await (const problem of treeProblems(folder, { skip })) {
      problems.push(describeProblem(problem))
      if (problems.length > MOST * 5) break
    }
  } catch (error) {
    if (!isFailure(error, 'skill_unreadable')) throw error
    problems.push(error.message)
  }
  return problems
}

async function whyMissing(folder: string): Promise<string> {
  const there = await lstat(folder).catch(() => undefined)
  if (!there) return `SKILL.md is missing: ${printable(folder)} does not exist.`
  const names = there.isDirectory() ? await readdir(folder).catch(() => []) : []
  const other = names.find(name => name.toLowerCase() === 'skill.md')
  return other
    ? `SKILL.md is missing, but there is ${printable(other)}. Rename it: the case counts.`
    : `SKILL.md is missing in ${printable(folder)}. Name the folder that holds it.`
}

/** Warns of executable files: builds keep no modes, so that every system builds the same bytes. */
async function executables(folder: string): Promise<string[]> {
  const found: string[] = []
  for await (const { path, kind, executable } of walkTree(folder, { skip: isHidden })) {
    if (kind !== 'file' || !executable) continue
    found.push(
      `"${path}" is executable, which is not kept when a skill is built. Say in SKILL.md how to start it, e.g. \`sh ${path}\`.`,
    )
  }
  return found.sort()
}

function cut(texts: readonly string[]): string[] {
  if (texts.length <= MOST) return [...texts]
  return [...texts.slice(0, MOST), `There are at least ${texts.length - MOST} more of these.`]
}
