import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { logInAsPerson } from './person.ts'

const CALLBACK = 'http://localhost:8666/callback'

/** What an application keeps of its login; its person logs in at once. */
export function application() {
  const kept: { client?: OAuthClientInformationFull; tokens?: OAuthTokens; verifier?: string; back?: URL } =
    {}
  const provider: OAuthClientProvider = {
    redirectUrl: CALLBACK,
    clientMetadata: {
      ...{ client_name: 'An application', redirect_uris: [CALLBACK] },
      grant_types: ['authorization_code', 'refresh_token'],
    },
    clientInformation: () => kept.client,
    saveClientInformation: client => {
      kept.client = client as OAuthClientInformationFull
    },
    tokens: () => kept.tokens,
    saveTokens: tokens => {
      kept.tokens = tokens
    },
    async redirectToAuthorization(url) {
      kept.back = await logInAsPerson(url.href, CALLBACK)
    },
    saveCodeVerifier: verifier => {
      kept.verifier = verifier
    },
    codeVerifier: () => kept.verifier ?? '',
  }
  return { kept, provider }
}
