import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { SecretsCommand } from './secrets-command.ts'

const flags = { replace: flag.boolean('overwrite secrets that exist already') }

export class SecretImport extends SecretsCommand {
  static override paths = [['secret', 'import']]
  static override usage = BaseCommand.Usage({
    category: 'Secrets',
    description: 'import the secrets of ToolHive',
    details:
      'FILE is the file `secrets_encrypted` of ToolHive, which is not changed. Its password is read from ' +
      'standard input, or asked for without echo; ToolHive keeps it in the keyring as "toolhive".',
    examples: [
      ['Import the file of this machine', '$0 secret import ~/.local/share/toolhive/secrets_encrypted'],
    ],
  })
  static override synopsis = 'FILE'
  static override flags = flags

  file = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { replace } = this.values(flags)
    const secrets = await this.secrets()
    const password = () => this.readSecret(`Password of ${this.file}`)
    const names = await secrets.import(this.file, password, { replace })
    this.say(names.length ? `Imported: ${names.join(', ')}` : 'The file holds no secrets.')
  }
}
