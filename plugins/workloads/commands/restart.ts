import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { chooseNames } from '../choose-names.ts'
import { BulkCommand, chooseFlags } from './bulk-command.ts'
import { noteWait } from './note-wait.ts'

export class Restart extends BulkCommand {
  static override paths = [['restart']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'stop workloads and start them again',
    details: 'A workload that is not running is only started.',
  })
  static override synopsis = '[NAME...]'
  static override completes = 'workloads' as const
  static override flags = chooseFlags

  names = Option.Rest()

  override async execute(): Promise<number> {
    const workloads = await this.app.service('workloads')
    const names = await chooseNames(this.app, { ...this.values(chooseFlags), names: this.names })
    if (names.length === 0) this.say('There are no workloads.')
    const progress = this.progress()
    await this.reportStep(progress, 'Restarting', names)
    const waiting = `Waiting until ${names.length > 1 ? 'they respond' : `${names[0]} responds`}`
    const outcomes = await noteWait(progress, waiting, workloads.restart(names)).finally(progress.done)
    return this.finish(outcomes, { done: 'running' })
  }
}
