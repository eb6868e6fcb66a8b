/** The frontmatter of SKILL.md (Agent Skills specification; https://agentskills.io/specification). */
export interface SkillManifest {
  readonly name: string
  readonly description: string
  readonly version?: string
  readonly license?: string
  readonly compatibility?: string
  readonly allowedTools: readonly string[]
  readonly metadata: Readonly<Record<string, string>>
  /** References of the skills that it needs, from `toolhive.requires` at the top level and inside `metadata`. */
  readonly requires: readonly string[]
}
