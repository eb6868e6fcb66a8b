import { text } from 'node:stream/consumers'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const flags = {
  in: flag.file('file to convert (default: standard input)'),
  out: flag.file('file to write (default: standard output)'),
  'in-place': flag.boolean('replace the file of --in, and keep the old one as FILE.bak'),
  backup: flag.boolean('keep the old file with --in-place', { fallback: true, hidden: false }),
} as const

export class RegistryConvert extends BaseCommand {
  static override paths = [['registry', 'convert']]
  static override usage = BaseCommand.Usage({
    category: 'Registry',
    description: 'convert a registry file of the older ToolHive format to the server.json format',
    details: 'Nothing is lost: members that server.json does not have are kept under `_meta`.',
    examples: [['Replace a file', '$0 registry convert --in registry.json --in-place']],
  })
  static override flags = flags

  override async execute(): Promise<void> {
    const { in: input, out, 'in-place': inPlace, backup } = this.values(flags)
    const { convertRegistry } = await import('../convert-registry.ts')
    const converted = await convertRegistry({
      in: input,
      out,
      inPlace,
      backup,
      readInput: () => text(this.context.stdin),
    })
    if (converted.kind === 'unchanged') this.say('It is in the server.json format already.')
    if (converted.kind === 'text') this.printContent(converted.text)
  }
}
