import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { reasonOf, statusText } from '../status-text.ts'

export class Clone extends BaseCommand {
  static override paths = [['clone']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'run a copy of a workload under another name',
    details:
      'The copy has the settings, variables, mounts and secrets of the workload, and a port of its own. `keelson edit` ' +
      'changes it afterwards.',
    examples: [
      [
        'A second one with another variable',
        '$0 clone github github-work && $0 edit github-work -e ORG=work',
      ],
    ],
  })
  static override synopsis = 'NAME NEW'
  static override completes = 'workloads' as const

  name = Option.String({ required: true })
  to = Option.String({ required: true })

  override async execute(): Promise<void> {
    const workloads = await this.app.service('workloads')
    const { signal } = this.context
    const progress = this.progress()
    try {
      const whole = await workloads.cloneConfig(this.name, this.to)
      const config = await workloads.prepare({
        ...{ argument: '', serverArgs: [], options: {}, given: new Set<string>(), cwd: process.cwd() },
        ...{ debug: this.app.debug, signal, report: progress.report, whole },
      })
      progress.report(`Starting ${this.to}`)
      const workload = await workloads.run(config, { portIsGiven: false, signal })
      progress.done()
      const state =
        workload.status === 'running'
          ? 'running'
          : `${statusText(workload, Date.now())}: ${reasonOf(workload)}`
      this.say(`${this.to} is ${state}. Clients connect to:`)
      this.print(workload.url)
    } finally {
      progress.done()
    }
  }
}
