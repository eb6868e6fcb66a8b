import { isFailure } from '../../../src/errors.ts'
import { suggest } from '../../../src/lib/suggest.ts'
import { failures } from '../failures.ts'
import type { SkillManifest } from '../skill-manifest.ts'
import { type Frontmatter, readFrontmatter, type Value } from './frontmatter.ts'
import { printable } from './member-path.ts'
import { nameProblem, toSkillName } from './skill-name.ts'
import { splitList } from './split-list.ts'

/** One error or warning about a SKILL.md. */
export interface Finding {
  /** `fatal`: the skill cannot be used. `error`: it breaks a rule. `warning`: it works, and could be better. */
  readonly severity: 'fatal' | 'error' | 'warning'
  readonly line: number
  readonly problem: string
  readonly hint?: string | undefined
}

/** The content of a SKILL.md, and what the checks found. */
export interface Examined {
  readonly manifest: SkillManifest
  readonly body: string
  readonly findings: readonly Finding[]
}

const KNOWN = ['name', 'description', 'version', 'license', 'compatibility', 'allowed-tools', 'metadata']
const REQUIRES = 'toolhive.requires'
const LONGEST_DESCRIPTION = 1024
const LONGEST_COMPATIBILITY = 500
const MOST_REQUIRED = 100
const MOST_LINES = 500

/**
 * Checks a SKILL.md by every rule (Agent Skills specification, "Frontmatter"). With `folderName` it also
 * checks that the skill has the name of its folder. Fails with `skill_invalid` only when the frontmatter
 * cannot be read.
 */
export function examineSkill(bytes: Uint8Array, { folderName }: { folderName?: string } = {}): Examined {
  const frontmatter = readFrontmatter(bytes)
  const findings: Finding[] = []
  const { members } = frontmatter
  const find = (severity: Finding['severity'], name: string, problem: string, hint?: string) =>
    findings.push({ severity, line: members.get(name)?.line ?? frontmatter.line, problem, hint })

  const text = (name: string): string | undefined => {
    const value = members.get(name)?.value
    if (value === undefined) return undefined
    if (value.kind === 'text') return value.text.trim()
    find('fatal', name, `"${name}" is ${nounOf(value)}, and should be a text.`)
    return undefined
  }
  const list = (name: string): readonly string[] => {
    const value = members.get(name)?.value
    if (value === undefined) return []
    if (value.kind === 'list') return value.items.map(item => item.trim()).filter(Boolean)
    if (value.kind === 'text') return splitList(value.text).items
    find('fatal', name, `"${name}" is ${nounOf(value)}, and should be a text or a list of texts.`)
    return []
  }

  const name = text('name') ?? ''
  checkName(name, frontmatter, find)
  if (folderName !== undefined && name !== '' && name !== folderName) {
    const problem = `the name "${printable(name)}" is not that of its folder, "${printable(folderName)}".`
    find('error', 'name', problem, 'Rename one of them.')
  }
  const description = text('description') ?? ''
  if (description === '') {
    find('error', 'description', '"description" is missing.', 'Say what the skill does and when to use it.')
  }
  checkLength('description', description, LONGEST_DESCRIPTION, find)
  const compatibility = text('compatibility')
  checkLength('compatibility', compatibility ?? '', LONGEST_COMPATIBILITY, find)
  const metadata = readMetadata(members.get('metadata')?.value, find)
  const requires = readRequires(frontmatter, { own: list(REQUIRES), inMetadata: metadata[REQUIRES] }, find)
  const manifest: SkillManifest = {
    name,
    description,
    ...optional('version', text('version') ?? metadata.version?.trim()),
    ...optional('license', text('license')),
    ...optional('compatibility', compatibility),
    allowedTools: list('allowed-tools'),
    metadata,
    requires,
  }
  warn(frontmatter, find)
  if (frontmatter.line > 1 || bytes[0] === 0xef) {
    findings.push({
      severity: 'warning',
      line: 1,
      problem: 'there is something in front of the "---", which not every client understands.',
      hint: bytes[0] === 0xef ? 'Save the file without a byte order mark.' : 'Remove the empty lines.',
    })
  }
  if (frontmatter.lines > MOST_LINES) {
    findings.push({
      severity: 'warning',
      line: MOST_LINES + 1,
      problem: `it has ${frontmatter.lines} lines; more than ${MOST_LINES} fill the context of a model.`,
      hint: 'Move details to files beside it, and say in SKILL.md when to read them.',
    })
  }
  return { manifest, body: frontmatter.body, findings: findings.sort((a, b) => a.line - b.line) }
}

/** Reads a SKILL.md for use. Fails with `skill_invalid` at a fatal finding; errors and warnings pass. */
export function useSkill(bytes: Uint8Array): { manifest: SkillManifest; body: string } {
  const { manifest, body, findings } = examineSkill(bytes)
  const fatal = findings.find(({ severity }) => severity === 'fatal')
  if (fatal) throw failures.skill_invalid(fatal)
  return { manifest, body }
}

type Find = (severity: Finding['severity'], name: string, problem: string, hint?: string) => void

const optional = <K extends string>(name: K, value: string | undefined) =>
  (value ? { [name]: value } : {}) as { [N in K]?: string }

const nounOf = (value: Value): string =>
  value.kind === 'other' ? value.what : { text: 'a text', list: 'a list', map: 'a mapping' }[value.kind]

function checkName(name: string, { members }: Frontmatter, find: Find): void {
  const problem = nameProblem(name)
  if (!problem) return
  const better = toSkillName(name)
  const hint = better ? `For example: ${better}` : 'For example: my-skill'
  if (name === '')
    find('fatal', 'name', members.has('name') ? '"name" is empty.' : '"name" is missing.', hint)
  else find('fatal', 'name', `the name "${printable(name)}" is not allowed: ${problem}.`, hint)
}

/** Counts Unicode characters, as the specification does. */
function checkLength(name: string, text: string, most: number, find: Find): void {
  const length = [...text].length
  if (length > most) {
    find(
      'error',
      name,
      `"${name}" has ${length} characters; ${most} are allowed.`,
      'Move details to the text below.',
    )
  }
}

function readMetadata(value: Value | undefined, find: Find): Record<string, string> {
  if (value === undefined) return {}
  if (value.kind === 'map') return { ...value.members }
  find('fatal', 'metadata', `"metadata" is ${nounOf(value)}, and should give a text to each name.`)
  return {}
}

/** The required skills are in a member of their own or, as some tools write them, in `metadata`. */
function readRequires(
  { members }: Frontmatter,
  { own, inMetadata }: { own: readonly string[]; inMetadata: string | undefined },
  find: Find,
): readonly string[] {
  const all = [...new Set([...own, ...(inMetadata ?? '').split(/[\s,]+/).filter(Boolean)])]
  if (all.length > MOST_REQUIRED) {
    find(
      'fatal',
      members.has(REQUIRES) ? REQUIRES : 'metadata',
      `it needs ${all.length} other skills; ${MOST_REQUIRED} are allowed.`,
    )
  }
  return all
}

function warn({ members }: Frontmatter, find: Find): void {
  const tools = members.get('allowed-tools')?.value
  if (tools?.kind === 'text' && splitList(tools.text).byCommas) {
    const better = splitList(tools.text).items.join(' ')
    find(
      'warning',
      'allowed-tools',
      '"allowed-tools" is separated by commas, which not every client understands.',
      `Write: allowed-tools: ${printable(better)}`,
    )
  }
  for (const name of members.keys()) {
    if (KNOWN.includes(name) || name === REQUIRES) continue
    const near = suggest(name.replaceAll('_', '-'), [...KNOWN, REQUIRES])
    if (near && !members.has(near)) {
      find('warning', name, `"${printable(name)}" means nothing.`, `Did you mean "${near}"?`)
    }
  }
}

/** Returns a finding as one line of text: where, what, what to do. */
export const describeFinding = ({ line, problem, hint }: Omit<Finding, 'severity'>): string =>
  `SKILL.md, line ${line}: ${problem}${hint ? ` ${hint}` : ''}`

/** Returns the text of a failure of `readFrontmatter`; throws any other error again. */
export function toFinding(error: unknown): string {
  if (!isFailure(error, 'skill_invalid')) throw error
  return [error.message, error.hint].filter(Boolean).join(' ')
}
