import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { isTerminal } from '../../../src/cli/output.ts'
import { parseShell, SHELLS, type Shell, shellScript } from '../shells.ts'

const flags = { descriptions: flag.boolean('show what each word means', { fallback: true }) }

/** How to install the script, for somebody who sees it on a terminal. */
const WHERE: Readonly<Record<Shell, string>> = {
  bash: 'Put this line into ~/.bashrc: source <(keelson completion bash)',
  zsh: 'Put this line into ~/.zshrc, behind compinit: source <(keelson completion zsh)',
  fish: 'Write it into a file: keelson completion fish > ~/.config/fish/completions/keelson.fish',
  powershell: 'Put this line into $PROFILE: keelson completion powershell | Out-String | Invoke-Expression',
}

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
    const shell = parseShell(this.shell)
    this.printContent(shellScript(shell, this.values(flags)))
    if (isTerminal(this.context.stdout)) this.say(`\n${WHERE[shell]}`)
  }
}
