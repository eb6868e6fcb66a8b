import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { SecretsCommand } from './secrets-command.ts'

const flags = {
  format: flag.choice('output format', ['text', 'json'], 'text'),
  system: flag.boolean('list the secrets that keelson itself keeps'),
}

export class SecretList extends SecretsCommand {
  static override paths = [['secret', 'list']]
  static override usage = BaseCommand.Usage({
    category: 'Secrets',
    description: 'list the names of secrets',
  })
  static override flags = flags

  override async execute(): Promise<void> {
    const { format, system } = this.values(flags)
    const secrets = await this.secrets()
    const entries = system ? await secrets.listSystem() : await secrets.list()
    const described = entries.some(entry => entry.description)
    this.printList(entries, {
      format,
      empty: 'There are no secrets.',
      columns: [
        { title: 'NAME', of: entry => entry.key },
        ...(described
          ? [
              {
                title: system ? 'SCOPE' : 'DESCRIPTION',
                of: (entry: (typeof entries)[0]) => entry.description ?? '',
              },
            ]
          : []),
      ],
    })
  }
}
