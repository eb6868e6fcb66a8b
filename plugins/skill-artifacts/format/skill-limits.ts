const MIB = 1024 * 1024

/** How large a skill may be, packed and unpacked. The numbers are ToolHive's where it has one. */
export interface SkillLimits {
  /** Files, SKILL.md among them. */
  readonly files: number
  /** Of one file. */
  readonly fileBytes: number
  /** Of all files together. */
  readonly totalBytes: number
  /** Of the packed archive. */
  readonly archiveBytes: number
  /** How many times larger than packed the unpacked content may be, once it is larger than `ratioFrom`. */
  readonly ratio: number
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

/** What a build may hold: less, so that it can always be fetched. */
export const BUILD_BYTES = 95 * MIB

/** Of SKILL.md: it is read whole, by us and by the client's model. */
export const SKILL_FILE_BYTES = MIB
export const FRONTMATTER_BYTES = 64 * 1024
