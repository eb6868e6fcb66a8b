import type { extractSkill as Extract } from './format/extract-skill.ts'
import type { SkillFile } from './format/list-files.ts'
import type { SkillManifest } from './skill-manifest.ts'

// Functions on the folder of a skill for other plugins. Every `skill` command loads this module, so each
// function loads its code when it is first called.

/** Unpacks the archive of an artifact into a folder. See `format/extract-skill.ts`. */
export const extractSkill: typeof Extract = async (...given) =>
  (await import('./format/extract-skill.ts')).extractSkill(...given)

/** Reads SKILL.md. Fails with `skill_missing` or `skill_invalid`. */
export const readSkill = async (folder: string): Promise<{ manifest: SkillManifest; body: string }> =>
  (await import('./format/parse-skill.ts')).readSkill(folder)

/** Fails with `skill_tree_refused` unless the folder holds only what a skill may hold. */
export const checkTree = async (folder: string): Promise<void> =>
  (await import('./format/check-tree.ts')).checkTree(folder)

/** Returns the digest of a skill's files, `sha256:<hex>`. */
export const contentDigest = async (folder: string): Promise<string> =>
  (await import('./format/content-digest.ts')).contentDigest(folder)

/** Returns the files of a skill, sorted by the bytes of their paths. */
export const listFiles = async (folder: string): Promise<readonly SkillFile[]> =>
  (await import('./format/list-files.ts')).listFiles(folder)
