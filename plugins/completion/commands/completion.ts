import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { parseShell, SHELLS, shellScript } from '../shells.ts'

const flags = { descriptions: flag.boolean('show what each word means', { fallback: true }) }

export class Completion extends BaseCommand {
  static override paths = [['completion']]
  static override usage = BaseCommand.Usage({
    category: 'Program',
    description: 'print a completion script for a shell',
    details:
      'The script asks keelson for suggestions, so it stays correct when keelson is upgraded or a plugin is added.',
    examples: [
      ['bash, now and for every new shell', 'source <($0 completion bash)   # put this line into ~/.bashrc'],
      ['zsh', '$0 completion zsh > "$' + '{fpath[1]}/_keelson"   # then start a new shell'],
      ['fish', '$0 completion fish > ~/.config/fish/completions/keelson.fish'],
      [
        'PowerShell',
        '$0 completion powershell | Out-String | Invoke-Expression   # put this line into $PROFILE',
      ],
    ],
  })
  static override synopsis = SHELLS.join('|')
  static override flags = flags

  shell = Option.String({ required: true })

  override async execute(): Promise<void> {
    this.printContent(shellScript(parseShell(this.shell), this.values(flags)))
  }
}
