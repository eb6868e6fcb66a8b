import { OAuthError } from '../protocol/oauth-error.ts'
import type { ServerSettings } from '../settings.ts'
import { type Client, CODE_GRANT, REFRESH_GRANT } from './client.ts'
import { readClientMetadata } from './read-registration.ts'
import { redirectUriProblem } from './redirect-uri.ts'

const invalid = (description: string) => new OAuthError('invalid_client', description)

/**
 * Reads the document of a client. All servers read the same one, so what this server does not have is left out
 * instead of refused. Fails with `invalid_client`.
 */
export function readClientDocument(
  text: string,
  url: string,
  { settings, now }: { settings: ServerSettings; now: number },
): Client {
  const document = parse(text)
  if (document.client_id !== url) throw invalid('client_id in the document of the client is not its URL.')
  if ('client_secret' in document || 'client_secret_expires_at' in document)
    throw invalid('The document of the client holds a secret, which everybody can read.')
  if ((document.token_endpoint_auth_method ?? 'none') !== 'none')
    throw invalid('The client authenticates in a way that this server does not have.')
  try {
    const metadata = readClientMetadata(
      {
        client_name: document.client_name,
        redirect_uris: texts(document.redirect_uris)?.filter(uri => redirectUriProblem(uri) === undefined),
        grant_types: texts(document.grant_types)?.filter(type => [CODE_GRANT, REFRESH_GRANT].includes(type)),
        scope: scopesOf(document.scope, settings.scopes),
      },
      settings,
    )
    return { ...metadata, id: url, registeredAt: now, usedAt: now }
  } catch (error) {
    if (error instanceof OAuthError) throw invalid(error.message)
    throw error
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Readonly<Record<string, unknown>>
    }
  } catch {
    // below
  }
  throw invalid('The document of the client is not a JSON object.')
}

const texts = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.filter(one => typeof one === 'string') : undefined

const scopesOf = (scope: unknown, known: readonly string[]): string | undefined =>
  typeof scope === 'string'
    ? scope
        .split(' ')
        .filter(one => known.includes(one))
        .join(' ')
    : undefined
