import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { failures } from '../failures.ts'
import type { SkillManifest } from '../skill-manifest.ts'
import { useSkill } from './examine-skill.ts'
import { SKILL_FILE_BYTES } from './skill-limits.ts'

/**
 * Reads a SKILL.md. What only breaks a rule of style passes (a long description, say); fails with
 * `skill_invalid` when it cannot be used: no frontmatter, no name that is allowed, a member of the wrong kind.
 */
export const parseSkill = (bytes: Buffer): { manifest: SkillManifest; body: string } => useSkill(bytes)

/** Reads the SKILL.md of a folder. Fails with `skill_missing`, `skill_invalid` or `skill_unreadable`. */
export async function readSkill(folder: string): Promise<{ manifest: SkillManifest; body: string }> {
  return parseSkill(await readSkillFile(folder))
}

/** The bytes of a folder's SKILL.md, and at most one more than it may have. A link is not followed. */
export async function readSkillFile(folder: string): Promise<Buffer> {
  const path = join(folder, 'SKILL.md')
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      if (!(await file.stat()).isFile()) throw failures.skill_unreadable({ path, problem: 'it is no file.' })
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
