import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { failures } from '../../../src/errors.ts'

export class UsageMetrics extends BaseCommand {
  static override paths = [['config', 'usage-metrics']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description: 'accepted for scripts; keelson never sends usage metrics',
  })
  static override synopsis = 'enable|disable'

  state = Option.String()

  override async execute(): Promise<void> {
    if (this.state !== 'enable' && this.state !== 'disable') {
      throw failures.usage({ text: `usage-metrics takes enable or disable, not "${this.state}".` })
    }
    if (this.state === 'enable') this.say('keelson sends no usage metrics; there is nothing to enable.')
  }
}
