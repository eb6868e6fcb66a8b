import { walkTree } from './walk-tree.ts'

/** A file of a skill, with its path relative to the skill's folder. */
export interface SkillFile {
  readonly path: string
  /** In bytes. */
  readonly size: number
}

/** Returns the files of a skill, sorted by the bytes of their paths. */
export async function listFiles(folder: string): Promise<readonly SkillFile[]> {
  const files: SkillFile[] = []
  for await (const { path, kind, size } of walkTree(folder)) if (kind === 'file') files.push({ path, size })
  return files.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
}
