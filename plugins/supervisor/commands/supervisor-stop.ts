import { BaseCommand } from '../../../src/cli/base-command.ts'

export class SupervisorStop extends BaseCommand {
  static override paths = [['supervisor', 'stop']]
  static override usage = BaseCommand.Usage({
    category: 'Program',
    description: 'end the background process that hosts the workloads',
    details:
      'Clients cannot reach workloads without it. The next command that looks at workloads starts it again, with those ' +
      'that were running. A `keelson serve` that hosts the workloads stops hosting them, and keeps serving its API. ' +
      '`stop --all` stops the workloads themselves.',
  })

  override async execute(): Promise<void> {
    const ended = await (await this.app.service('supervisor')).end()
    if (!ended) return this.print('No supervisor is running.')
    this.print(
      ended.goesOn
        ? `Process ${ended.pid} no longer hosts workloads, and keeps running as \`keelson serve\`.`
        : `The supervisor (process ${ended.pid}) has ended.`,
    )
    if (ended.workloads > 0)
      this.print('The next `keelson list` starts it again, and its workloads are reachable.')
  }
}
