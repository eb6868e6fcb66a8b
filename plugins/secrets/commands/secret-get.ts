import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { SecretsCommand } from './secrets-command.ts'

export class SecretGet extends SecretsCommand {
  static override paths = [['secret', 'get']]
  static override usage = BaseCommand.Usage({
    category: 'Secrets',
    description: 'print the value of a secret',
  })
  static override synopsis = 'NAME'
  static override completes = 'secrets' as const

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    this.printContent(`${await (await this.secrets()).get(this.name)}\n`)
  }
}
