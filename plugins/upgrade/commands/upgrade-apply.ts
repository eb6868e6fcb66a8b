import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { clean } from '../../../src/cli/output.ts'
import { ask } from '../../../src/cli/prompt.ts'
import { parseVariables } from '../../../src/env-files.ts'
import { lessVerificationTable } from '../../image-verification/index.ts'
import { permissionTable } from '../../registry/index.ts'
import type { UpgradeResult } from '../apply-upgrade.ts'
import type { UpgradeCheck } from '../check-result.ts'
import { changeLines } from '../print-check.ts'

const flags = {
  yes: flag.boolean('do not ask', { short: 'y' }),
  'dry-run': flag.boolean('only show what would change'),
  env: flag.list('environment variable of the server; replaces the current value', 'KEY=VALUE', {
    short: 'e',
  }),
  secret: flag.list('secret to give to the server as an environment variable', 'NAME,target=VARIABLE'),
  ...lessVerificationTable,
  ...permissionTable,
  'ca-cert': flag.file('certificates (PEM) to trust while a package is built'),
  timeout: flag.duration('how long the new version may take to respond', '60s'),
  format: flag.choice('output format', ['text', 'json'], 'text'),
}

export class UpgradeApplyCommand extends BaseCommand {
  static override paths = [['upgrade', 'apply']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'replace a workload by its newer version in the registry',
    details:
      'The newer version is started beside the running one and takes over when it responds; clients keep ' +
      'their URL. If it does not respond, nothing changes.',
    examples: [
      ['Look, then agree', '$0 upgrade apply github'],
      [
        'Without being asked, with a variable that the newer version needs',
        '$0 upgrade apply github --yes -e REGION=eu',
      ],
    ],
  })
  static override synopsis = 'NAME'
  static override completes = 'workloads' as const
  static override flags = flags

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { env, secret, timeout, yes, format, ...values } = this.values(flags)
    const upgrades = await this.app.service('upgrades')
    const canAsk = !yes && !values['dry-run'] && this.onTerminal
    const progress = this.progress()
    const result = await upgrades
      .apply(this.name, {
        env: parseVariables(env),
        secrets: secret,
        verification: values['image-verification'],
        accepted: {
          changedSigner: values['accept-changed-signer'],
          lessVerification: values['accept-less-verification'],
        },
        acceptPermissions: values['accept-permissions'],
        caCert: values['ca-cert'],
        timeoutMs: timeout,
        dryRun: values['dry-run'],
        signal: this.context.signal,
        report: progress.report,
        ...(canAsk
          ? {
              agree: async check => {
                for (const line of planLines(check)) this.say(clean(line))
                return this.confirm(`Upgrade ${this.name}?`)
              },
              ask: async (question, { hidden = false } = {}) => {
                progress.done()
                return hidden ? this.readSecret(question) : ask(this.context, `${question}: `)
              },
            }
          : {}),
      })
      .finally(progress.done)
    if (format === 'json') return this.printJson({ ...result.check, outcome: result.outcome })
    for (const line of toLines(result)) this.print(clean(line))
  }
}

const planLines = (check: UpgradeCheck): string[] => [
  `${check.workload_name}: ${check.current_image} -> ${check.candidate_image}`,
  ...changeLines(check),
]

function toLines({ check, outcome }: UpgradeResult): string[] {
  const { workload_name: name, candidate_image: candidate, current_image: current } = check
  if (outcome === 'planned') return [...planLines(check), 'Nothing was changed.']
  if (outcome === 'declined') return [`${name} stays at ${current}.`]
  if (outcome === 'upgraded') return [`${name} is upgraded to ${candidate}.`]
  const why = {
    'up-to-date': `is up to date: ${current}`,
    'not-registry-sourced':
      'was not run by the name of a registry server, so there is nothing to compare it with',
    'server-not-found': `has nothing to be compared with: the registry has no server "${check.registry_server}"`,
    unknown: 'cannot be compared with the registry',
    'upgrade-available': 'can be upgraded',
  }[check.status]
  return [`${name} ${why}${check.reason ? ` (${check.reason})` : ''}.`]
}
