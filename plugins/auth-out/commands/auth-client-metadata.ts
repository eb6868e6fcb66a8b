import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { failures } from '../failures.ts'

const flags = {
  'callback-port': flag.port('port of this machine that the browser returns to', { shown: '8666' }),
}

export class AuthClientMetadata extends BaseCommand {
  static override paths = [['auth', 'client-metadata']]
  static override usage = BaseCommand.Usage({
    category: 'Remote servers',
    description: 'print the client metadata document to host',
    details:
      'Identity providers that read such documents accept its URL as the client ID and need no registration. ' +
      'The URL is set with `config set-client-metadata-url`.',
    examples: [['Write it to a file', '$0 auth client-metadata > keelson.json']],
  })
  static override flags = flags

  override async execute(): Promise<void> {
    const url = await (await this.app.service('settings')).get('client_metadata_url')
    if (!url) throw failures.client_metadata_unset()
    const { createClientMetadataDocument } = await import('../oauth/client-metadata.ts')
    this.printJson(createClientMetadataDocument(url, this.values(flags)['callback-port']))
  }
}
