import { BaseCommand } from '../../../src/cli/base-command.ts'

export class LogsPrune extends BaseCommand {
  static override paths = [['logs', 'prune']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'delete proxy logs of workloads that no longer exist',
  })

  override async execute(): Promise<void> {
    const removed = await (await this.app.service('workloads')).pruneLogs()
    for (const path of removed) this.print(path)
    if (removed.length === 0) this.print('There is no log to delete.')
  }
}
