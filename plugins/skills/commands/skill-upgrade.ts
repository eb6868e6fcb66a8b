import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { skillFlags } from '../flags.ts'
import { POLICY_REASONS } from '../update/failed-skill.ts'
import type { UpgradeOutcome } from '../update/upgrade-skills.ts'
import { createConsent, REFUSED } from './consent.ts'
import { describeOutcome, describeUpgrade } from './describe-upgrade.ts'
import { findPlace } from './find-place.ts'

const flags = {
  scope: flag.choice(
    'what to upgrade: of the project around you, or of the user',
    ['user', 'project'],
    'project',
  ),
  'project-root': skillFlags['project-root'],
  clients: skillFlags.clients,
  preview: flag.boolean('only show what would change'),
  check: flag.boolean('only show what would change, and exit with 2 if anything would'),
  'fail-on-changes': flag.boolean('another name for --check'),
  'allow-ref-change': flag.boolean('accept a version from another repository'),
  'allow-signer-change': flag.boolean('accept a version that somebody else signed'),
  'allow-unsigned': skillFlags['allow-unsigned'],
  force: flag.boolean('discard edits'),
  yes: skillFlags.yes,
  format: skillFlags.format,
}

export class SkillUpgrade extends BaseCommand {
  static override paths = [['skill', 'upgrade']]
  static override usage = BaseCommand.Usage({
    category: 'Skills',
    description: 'replace skills by the current versions of their sources, after showing what changes',
    details:
      'Exit codes: 0 done, 2 something is newer (--check), 3 some skills failed, 4 refused (a signer or a ' +
      'repository changed, or no terminal to ask on without --yes).',
    examples: [
      ['Show what is newer in the project of the working folder', '$0 skill upgrade --preview'],
      ['Upgrade one skill of the user', '$0 skill upgrade pdf --scope user'],
    ],
  })
  static override synopsis = '[NAME...]'
  static override completes = 'skills' as const
  static override flags = flags

  names = Option.Rest()

  override async execute(): Promise<number> {
    const { scope, clients, preview, check, force, yes, format, ...rest } = this.values(flags)
    const isCheck = check || rest['fail-on-changes']
    const skills = await this.app.service('skills')
    const place = await findPlace(skills, { scope, 'project-root': rest['project-root'] })
    const progress = this.progress()
    const consent = createConsent(this.context, { yes })
    const isPreview = preview || isCheck
    let shown = false
    const outcomes = await skills
      .upgrade({
        ...{ names: this.names, ...place, clients, force, preview: isPreview },
        ...{ allowRefChange: rest['allow-ref-change'], allowSignerChange: rest['allow-signer-change'] },
        ...{ allowUnsigned: rest['allow-unsigned'], signal: this.context.signal, progress: progress.report },
        confirmUnsigned: names => {
          progress.done()
          return consent.askUnsigned(names)
        },
        confirm: found => {
          shown = true
          progress.done()
          return consent.ask(found.flatMap(describeUpgrade), 'Upgrade?')
        },
      })
      .finally(() => progress.done())
    const refusal = consent.refusal()
    if (refusal !== undefined) return refusal
    if (format === 'json') this.printJson({ outcomes })
    else
      for (const line of shown ? outcomes.map(describeOutcome) : outcomes.flatMap(describeUpgrade))
        this.print(line)
    return exitCode(outcomes, { isCheck })
  }
}

function exitCode(outcomes: readonly UpgradeOutcome[], { isCheck }: { isCheck: boolean }): number {
  const isRefused = ({ status, reason }: UpgradeOutcome) =>
    status.endsWith('-blocked') || (reason !== undefined && POLICY_REASONS.has(reason))
  if (outcomes.some(isRefused)) return REFUSED
  if (outcomes.some(({ status }) => status === 'failed')) return 3
  return isCheck && outcomes.some(({ status }) => status === 'upgraded') ? 2 : 0
}
