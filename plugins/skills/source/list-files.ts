import { walkTree } from '../format/walk-tree.ts'
import type { SkillContent } from '../skill.ts'

/** The files of a skill, sorted by the bytes of their paths. */
export async function listFiles(folder: string): Promise<SkillContent['files']> {
  const files: { path: string; size: number }[] = []
  for await (const { path, kind, size } of walkTree(folder)) if (kind === 'file') files.push({ path, size })
  return files.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
}
