import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { supervisorPaths } from '../control-protocol.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

export class SupervisorStatusOf extends BaseCommand {
  static override paths = [['supervisor', 'status']]
  static override usage = BaseCommand.Usage({
    category: 'Program',
    description: 'show the background process that hosts the workloads',
    details:
      'The supervisor hosts the proxies of all workloads and restarts servers that crash. It starts with the first ' +
      'workload, and ends when it has hosted none for a minute. Exits with 1 if none is running.',
  })
  static override flags = flags

  override async execute(): Promise<number> {
    const found = await (await this.app.service('supervisor')).find()
    const { log } = supervisorPaths(this.app.paths)
    const json = this.values(flags).format === 'json'
    if (json) this.printJson({ running: found !== undefined, ...found, log })
    else if (!found) this.print('No supervisor is running; the next `run` or `start` starts it.')
    else {
      this.print(`Process:    ${found.pid}`)
      this.print(`Workloads:  ${found.workloads}`)
      this.print(`Build:      ${found.build}`)
      this.print(`Log:        ${log}`)
    }
    return found ? 0 : 1
  }
}
