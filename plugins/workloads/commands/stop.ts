import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import type { Workload } from '../../../src/contracts/workload.ts'
import { chooseNames } from '../choose-names.ts'
import { BulkCommand, chooseFlags, ignoreFlags, UP } from './bulk-command.ts'

const flags = { ...chooseFlags, ...ignoreFlags }

export class Stop extends BulkCommand {
  static override paths = [['stop']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'stop workloads; they can be started again',
    examples: [['Stop all workloads of a group', '$0 stop --group work']],
  })
  static override synopsis = '[NAME...]'
  static override completes = 'workloads' as const
  static override flags = flags
  static override hints = {
    t: 'A server has 10 seconds to end, and is killed after that.',
    time: 'A server has 10 seconds to end, and is killed after that.',
    timeout: 'A server has 10 seconds to end, and is killed after that.',
  }

  names = Option.Rest()

  override async execute(): Promise<number> {
    const workloads = await this.app.service('workloads')
    const { 'ignore-missing': ignoreMissing, ...choice } = this.values(flags)
    const isUp = (workload: Workload) => UP.has(workload.status)
    const names = await chooseNames(this.app, { ...choice, names: this.names }, isUp)
    if (names.length === 0) this.say('No workload is running.')
    return this.finish(await workloads.stop(names), { done: 'stopped', ignoreMissing })
  }
}
