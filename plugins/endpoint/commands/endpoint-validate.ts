import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { describeImported } from '../import/describe-imported.ts'
import { readVmcpConfig } from '../import/read-vmcp-config.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

export class EndpointValidate extends BaseCommand {
  static override paths = [['endpoint', 'validate']]
  static override usage = BaseCommand.Usage({
    category: 'Endpoints',
    description: "show what `endpoint import` would make of a configuration file of ToolHive's vMCP",
    details: 'It fails if the file cannot be read, or names servers or a group that are not there.',
    examples: [['See what is supported', '$0 endpoint validate vmcp.yaml']],
  })
  static override synopsis = 'FILE'
  static override flags = flags

  file = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { format } = this.values(flags)
    const imported = await readVmcpConfig(await readUserFile(this.file, 'The file to check'), this.file)
    if (format === 'json') this.printJson(imported)
    else for (const line of describeImported(imported)) this.print(line)
    await (await this.app.service('endpoints')).assertMembers(imported.settings)
  }
}
