import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { failures } from '../failures.ts'
import type { SkillManifest } from '../skill-manifest.ts'
import { useSkill } from './examine-skill.ts'
import { SKILL_FILE_BYTES } from './skill-limits.ts'

/**
 * Parses a SKILL.md. A file that only breaks a rule of style passes, such as a long description. Fails with
 * `skill_invalid` when the skill cannot be used: no frontmatter, no allowed name, a member of the wrong kind.
 */
export const parseSkill = (bytes: Buffer): { manifest: SkillManifest; body: string } => useSkill(bytes)

/** Reads the SKILL.md of a folder. Fails with `skill_missing`, `skill_invalid` or `skill_unreadable`. */
export async function readSkill(folder: string): Promise<{ manifest: SkillManifest; body: string }> {
  return parseSkill(await readSkillFile(folder))
}

/**
 * Reads at most `SKILL_FILE_BYTES + 1` bytes of a folder's SKILL.md, so that callers see when it is too
 * large. Links are not followed. Fails with `skill_missing` or `skill_unreadable`.
 */
export async function readSkillFile(folder: string): Promise<Buffer> {
  const path = join(folder, 'SKILL.md')
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      if (!(await file.stat()).isFile())
        throw failures.skill_unreadable({ path, problem: 'it is not a file.' })
      const bytes = Buffer.alloc(SKILL_FILE_BYTES + 1)
      let length = 0
      for (;;) {
        const { bytesRead } = await file.read(bytes, length, bytes.length - length)
        length += bytesRead
        if (bytesRead === 0 || length === bytes.length) return bytes.subarray(0, length)
      }
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isMissing(error)) throw failures.skill_missing({ folder }, { cause: error })
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error
    const problem = error.code === 'ELOOP' ? 'it is a link.' : `${error.code}.`
    throw failures.skill_unreadable({ path, problem }, { cause: error })
  }
}
