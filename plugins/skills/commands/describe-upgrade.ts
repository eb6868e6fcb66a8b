import { clean } from '../../../src/cli/output.ts'
import type { UpgradeOutcome } from '../update/upgrade-skills.ts'
import { shortDigest } from './describe-skill.ts'

/** Returns the outcome of one skill as a line. */
export function describeOutcome({ name, status, old_digest, new_digest, error }: UpgradeOutcome): string {
  const step = old_digest && new_digest ? ` ${shortDigest(old_digest)} → ${shortDigest(new_digest)}` : ''
  return `${name}: ${status === 'upgraded' ? status : WORDS[status]}${step}${error ? `: ${clean(error)}` : ''}`
}

/** Returns what an upgrade would change: a line for the skill, and one for each kind of change. */
export function describeUpgrade(outcome: UpgradeOutcome): string[] {
  const { status, changes = {} } = outcome
  const { version, files, tools_added = [], signer } = changes
  const list = (title: string, items: readonly string[] = []) =>
    items.length ? [`  ${title}: ${items.map(clean).join(', ')}`] : []
  return [
    describeOutcome(outcome).replace(`: ${status}`, `: ${WORDS[status]}`),
    ...(version
      ? [`  version: ${clean(version.before) || '(none)'} → ${clean(version.after) || '(none)'}`]
      : []),
    ...list('files added', files?.added),
    ...list('files removed', files?.removed),
    ...list('files changed', files?.changed),
    ...list('may use without asking, newly', tools_added),
    ...(signer ? [`  signer: ${clean(signer.before)} → ${clean(signer.after)}`] : []),
  ]
}

const WORDS: Readonly<Record<UpgradeOutcome['status'], string>> = {
  upgraded: 'newer',
  'up-to-date': 'up to date',
  'not-upgradable': 'pinned, cannot be upgraded',
  'ref-change-blocked': 'now from another repository (--allow-ref-change accepts it)',
  'signer-change-blocked': 'signed by somebody else (--allow-signer-change accepts it)',
  failed: 'failed',
}
