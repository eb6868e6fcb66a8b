import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { describeImported } from '../import/describe-imported.ts'
import { readVmcpConfig } from '../import/read-vmcp-config.ts'

const flags = {
  name: flag.string('name of the endpoint (default: that in the file)', { placeholder: 'NAME' }),
  yes: flag.boolean('do not ask', { short: 'y' }),
}

export class EndpointImport extends BaseCommand {
  static override paths = [['endpoint', 'import']]
  static override usage = BaseCommand.Usage({
    category: 'Endpoints',
    description: "make an endpoint of a configuration file of ToolHive's vMCP",
    details:
      'It shows the endpoint and what of the file is left behind, and asks. The backends of the file have to be workloads ' +
      'of the same names; `endpoint validate` shows the same and changes nothing.',
    examples: [['Take over a vMCP', '$0 endpoint import vmcp.yaml']],
  })
  static override synopsis = 'FILE'
  static override flags = flags

  file = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { name, yes } = this.values(flags)
    const { signal } = this.context
    const found = await readVmcpConfig(await readUserFile(this.file, 'The file to import'), this.file)
    const imported = { ...found, name: name ?? found.name }
    for (const line of describeImported(imported)) this.print(line)
    if (!yes && !(await this.confirm(`Make the endpoint ${imported.name}?`))) return
    const endpoints = await this.app.service('endpoints')
    const { workload } = await endpoints.create(imported.name, imported.settings, { port: undefined, signal })
    this.print(workload.url)
  }
}
