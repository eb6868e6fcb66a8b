const MIB = 1024 * 1024

/** How large a skill may be, packed and unpacked. Numbers that ToolHive has too are ToolHive's. */
export interface SkillLimits {
  /** Most files, SKILL.md included. */
  readonly files: number
  /** Most bytes of one file. */
  readonly fileBytes: number
  /** Most bytes of all files together. */
  readonly totalBytes: number
  /** Most bytes of the packed archive. */
  readonly archiveBytes: number
  /** Most bytes of unpacked content for each packed byte. */
  readonly ratio: number
  /** Unpacked content up to this many bytes may exceed `ratio`. */
  readonly ratioFrom: number
}

export const LIMITS: SkillLimits = {
  files: 1000,
  fileBytes: 100 * MIB,
  totalBytes: 500 * MIB,
  archiveBytes: 50 * MIB,
  ratio: 200,
  ratioFrom: 8 * MIB,
}

/** Most bytes of a build. It is below the limits of installing, so that every build can be installed. */
export const BUILD_BYTES = 95 * MIB

/** Most bytes of SKILL.md, which keelson and the client's model read whole. */
export const SKILL_FILE_BYTES = MIB
export const FRONTMATTER_BYTES = 64 * 1024
