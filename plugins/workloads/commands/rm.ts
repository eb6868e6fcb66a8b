import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { chooseNames } from '../choose-names.ts'
import { BulkCommand, chooseFlags } from './bulk-command.ts'

export class Remove extends BulkCommand {
  static override paths = [['rm']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'stop and forget workloads, without asking',
  })
  static override synopsis = '[NAME...]'
  static override completes = 'workloads' as const
  static override flags = chooseFlags

  names = Option.Rest()

  override async execute(): Promise<number> {
    const workloads = await this.app.service('workloads')
    const names = await chooseNames(this.app, { ...this.values(chooseFlags), names: this.names })
    if (names.length === 0) this.say('There are no workloads.')
    return this.finish(await workloads.remove(names), { lenient: true })
  }
}
