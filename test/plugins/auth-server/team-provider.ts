import { identityProvider } from '../../support/identity-provider.ts'

export const SECRET = 'the secret of keelson'

/** A provider that keelson is registered at, as the walk-through of docs/login.md has it. */
export const providerOfTeam = () =>
  identityProvider({
    clients: [
      {
        ...{ client_id: 'keelson', client_secret: SECRET, application_type: 'native' },
        redirect_uris: ['http://127.0.0.1/oauth/callback'],
      },
    ],
  })
