import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { chooseNames } from '../choose-names.ts'
import { BulkCommand, chooseFlags, ignoreFlags } from './bulk-command.ts'

const flags = { ...chooseFlags, ...ignoreFlags }

export class Remove extends BulkCommand {
  static override paths = [['rm']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'stop and remove workloads, without asking',
  })
  static override synopsis = '[NAME...]'
  static override completes = 'workloads' as const
  static override flags = flags

  names = Option.Rest()

  override async execute(): Promise<number> {
    const workloads = await this.app.service('workloads')
    const { 'ignore-missing': ignoreMissing, ...choice } = this.values(flags)
    const names = await chooseNames(this.app, { ...choice, names: this.names })
    if (names.length === 0) this.say('There are no workloads.')
    return this.finish(await workloads.remove(names), { done: 'removed', ignoreMissing })
  }
}
