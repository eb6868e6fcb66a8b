import { failures } from '../../../src/errors.ts'
import { clientIdUrlProblem } from '../../../src/login/client-id-url.ts'
import type {} from '../../settings/index.ts'
import type { Setting } from '../setting.ts'

export const clientMetadataUrl: Setting = {
  name: 'client-metadata-url',
  set: {
    description: 'set the URL of the client metadata document, which tells identity providers who keelson is',
    details:
      'Print the document with `auth client-metadata`, and host it at this URL. Identity providers that read such ' +
      'documents then need no registration: the URL is the client ID.',
    examples: [
      ['Host it with other files', '$0 config set-client-metadata-url https://example.com/keelson.json'],
    ],
    synopsis: 'URL',
    async run({ app, args: [url = ''] }) {
      const problem = clientIdUrlProblem(url)
      if (problem) throw failures.usage({ text: `${url} cannot be a client ID: ${problem}.` })
      await (await app.service('settings')).change(() => ({ client_metadata_url: url }))
    },
  },
  get: {
    description: 'show the URL of the client metadata document',
    async run({ app, print }) {
      const url = await (await app.service('settings')).get('client_metadata_url')
      print(url ? `Client metadata document: ${url}` : 'No URL of a client metadata document is set.')
    },
  },
  unset: {
    description: 'stop using a client metadata document',
    async run({ app }) {
      await (await app.service('settings')).change(() => ({ client_metadata_url: undefined }))
    },
  },
}
