import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { clean } from '../../../src/cli/output.ts'
import { failures } from '../../../src/errors.ts'
import { skillFlags } from '../flags.ts'
import { POLICY_REASONS } from '../update/failed-skill.ts'
import type { SyncResult } from '../update/sync-skills.ts'
import { withoutEmpty } from '../update/without-empty.ts'
import { createConsent, REFUSED } from './consent.ts'
import { findPlace } from './find-place.ts'

const flags = {
  'project-root': skillFlags['project-root'],
  clients: skillFlags.clients,
  check: flag.boolean('change nothing, and exit with 2 if a skill is not in line'),
  frozen: flag.boolean('fail if there is no lock file, and never write it'),
  adopt: flag.boolean('add installed skills to the lock file, and take over folders that are in the way'),
  prune: flag.boolean('remove installed skills that are not in the lock file'),
  'allow-unsigned': skillFlags['allow-unsigned'],
  force: flag.boolean('discard edits'),
  yes: skillFlags.yes,
  format: skillFlags.format,
}

export class SkillSync extends BaseCommand {
  static override paths = [['skill', 'sync']]
  static override usage = BaseCommand.Usage({
    category: 'Skills',
    description: 'bring the skills of a project in line with its lock file',
    details:
      'Exit codes: 0 all are in line, 2 some are not (--check), 3 some skills failed, 4 refused (a signature, ' +
      'or no terminal to ask on without --yes). Asks before it installs an unsigned skill ' +
      'that only the lock file allows; without a terminal, this requires --allow-unsigned.',
    examples: [
      ['After a git pull', '$0 skill sync --yes'],
      ['In CI', '$0 skill sync --check'],
    ],
  })
  static override flags = flags

  override async execute(): Promise<number> {
    const { check, frozen, adopt, prune, force, yes, format, clients, ...rest } = this.values(flags)
    if (adopt && (frozen || prune)) {
      const other = frozen ? '--frozen' : '--prune'
      throw failures.usage({ text: `--adopt and ${other} exclude each other.` })
    }
    const skills = await this.app.service('skills')
    const place = await findPlace(skills, { scope: 'project', 'project-root': rest['project-root'] })
    const progress = this.progress()
    const consent = createConsent(this.context, { yes })
    const result = await skills
      .sync({
        ...{ check, frozen, adopt, prune, force, clients, allowUnsigned: rest['allow-unsigned'] },
        ...{ projectRoot: place.projectRoot ?? '', signal: this.context.signal },
        progress: progress.report,
        confirmUnsigned: names => consent.askUnsigned(names),
        confirm: found => consent.ask(describe(found), 'Make the folders what the lock file says?'),
      })
      .finally(() => progress.done())
    const refusal = consent.refusal()
    if (refusal !== undefined) return refusal
    if (format === 'json') this.printJson(withoutEmpty(result))
    else for (const line of report(result, { check })) this.print(line)
    return exitCode(result, { check, prune })
  }
}

const listed = (title: string, names: readonly string[]): string[] =>
  names.length ? [`${title}: ${names.map(clean).join(', ')}`] : []

const describe = (found: SyncResult): string[] => [
  ...listed('Missing', found.missing),
  ...listed('Different from the lock file', found.drifted),
  ...listed('Not in the lock file', found.removed_from_lock),
]

function report(result: SyncResult, { check }: { check: boolean }): string[] {
  const lines = [
    ...(check ? describe(result) : listed('Installed', result.installed)),
    ...listed('Removed', result.pruned),
    ...listed('In step', result.already_current),
    ...(check ? [] : listed('Not in the lock file', result.removed_from_lock)),
    ...listed('Not ours, left alone', result.never_managed),
    ...result.failed.map(({ name, reason, error }) => `Failed: ${name} (${reason}): ${clean(error)}`),
  ]
  return lines.length ? lines : ['The lock file names no skills.']
}

function exitCode(result: SyncResult, { check, prune }: { check: boolean; prune: boolean }): number {
  if (result.failed.some(({ reason }) => POLICY_REASONS.has(reason))) return REFUSED
  if (result.failed.length) return 3
  const isBehind = result.missing.length > 0 || result.drifted.length > 0
  return check && (isBehind || (prune && result.removed_from_lock.length > 0)) ? 2 : 0
}
