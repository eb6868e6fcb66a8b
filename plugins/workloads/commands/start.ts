import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { failures } from '../../../src/errors.ts'
import { chooseNames } from '../choose-names.ts'
import { BulkCommand, chooseFlags } from './bulk-command.ts'
import { noteWait } from './note-wait.ts'

const flags = {
  ...chooseFlags,
  foreground: flag.boolean('stay in the foreground, and stop the workload at the end', { short: 'f' }),
}

export class Start extends BulkCommand {
  static override paths = [['start']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'start workloads that are not running',
  })
  static override synopsis = '[NAME...]'
  static override completes = 'workloads' as const
  static override flags = flags

  names = Option.Rest()

  override async execute(): Promise<number> {
    const { foreground, ...choice } = this.values(flags)
    const workloads = await this.app.service('workloads')
    const names = await chooseNames(this.app, { ...choice, names: this.names })
    if (names.length === 0) this.say('There are no workloads.')
    if (foreground) return this.#inForeground(names)
    const progress = this.progress()
    await this.reportStep(progress, 'Starting', names)
    const waiting = `Waiting until ${names.length > 1 ? 'they respond' : `${names[0]} responds`}`
    const outcomes = await noteWait(progress, waiting, workloads.start(names)).finally(progress.done)
    return this.finish(outcomes, { done: 'running' })
  }

  async #inForeground([name, ...others]: readonly string[]): Promise<number> {
    if (name === undefined || others.length)
      throw failures.usage({ text: '--foreground takes one workload.' })
    const workloads = await this.app.service('workloads')
    await workloads.startInForeground(name, {
      signal: this.context.signal,
      onUp: workload => this.say(`${workload.name} is running until you interrupt it: ${workload.url}`),
    })
    return 0
  }
}
