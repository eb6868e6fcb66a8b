import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { failures } from '../../../src/errors.ts'
import { settingsFlags, toSettings } from './settings-flags.ts'

const flags = {
  ...settingsFlags,
  'proxy-port': flag.port('port the endpoint listens on (default: a free one)'),
}

export class EndpointCreate extends BaseCommand {
  static override paths = [['endpoint', 'create']]
  static override usage = BaseCommand.Usage({
    category: 'Endpoints',
    description: 'make one URL for several servers',
    details:
      'Clients see the tools, prompts and resources of all servers of the group, as they come and go. An endpoint is a ' +
      'workload: `stop`, `start`, `rm` and `status` work with it.',
    examples: [
      ['All servers of a group', '$0 endpoint create team --group team'],
      ['Two servers', '$0 endpoint create both --server fetch --server github'],
    ],
  })
  static override synopsis = 'NAME'
  static override flags = flags

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { 'proxy-port': port, ...values } = this.values(flags)
    const { signal } = this.context
    if ((values.group === undefined) === (values.server.length === 0)) {
      throw failures.usage({
        text: 'Which servers are behind the endpoint?',
        hint: 'Give either --group NAME or --server NAME, which can be repeated.',
      })
    }
    const settings = { naming: values.naming, ...(await toSettings(values, this.given)) }
    const endpoints = await this.app.service('endpoints')
    const { workload, members } = await endpoints.create(this.name, settings, { port, signal })
    const names = members.map(member => member.name).join(', ')
    this.say(
      members.length === 0
        ? `${this.name} is running; no server is in it yet. Clients connect to:`
        : `${this.name} is running, with ${names}. Clients connect to:`,
    )
    this.print(workload.url)
    for (const view of Object.keys(settings.views ?? {})) this.print(`${workload.url}/${view}`)
  }
}
