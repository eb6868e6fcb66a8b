import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { chooseNames } from '../choose-names.ts'
import { BulkCommand, chooseFlags, UP } from './bulk-command.ts'

export class Stop extends BulkCommand {
  static override paths = [['stop']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'stop workloads; they can be started again',
    examples: [['Stop all of a group', '$0 stop --group work']],
  })
  static override synopsis = '[NAME...]'
  static override completes = 'workloads' as const
  static override flags = chooseFlags

  names = Option.Rest()

  override async execute(): Promise<number> {
    const workloads = await this.app.service('workloads')
    const choice = { ...this.values(chooseFlags), names: this.names }
    const names = await chooseNames(this.app, choice, workload => UP.has(workload.status))
    if (names.length === 0) this.say('No workload is running.')
    return this.finish(await workloads.stop(names), { lenient: true })
  }
}
