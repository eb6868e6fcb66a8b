import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'

export class Rename extends BaseCommand {
  static override paths = [['rename']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'give a workload another name',
    details:
      'A running server is restarted. Its port stays, and AI clients get the new name. Its log begins anew, and whoever ' +
      'has logged in to it (--auth-server-*) logs in again.',
  })
  static override synopsis = 'NAME NEW'
  static override completes = 'workloads' as const

  name = Option.String({ required: true })
  to = Option.String({ required: true })

  override async execute(): Promise<void> {
    const workloads = await this.app.service('workloads')
    const progress = this.progress()
    progress.report(`Renaming ${this.name}`)
    await workloads.rename(this.name, this.to).finally(progress.done)
    this.print(`${this.name}: renamed to ${this.to}`)
  }
}
