import { clientIdUrlProblem } from '../../../src/login/client-id-url.ts'
import { methodForSecret } from './auth-method.ts'
import { DEFAULT_CALLBACK_PORT } from './client-metadata.ts'
import type { ClientIdentity, Discovery, LoginRequest, LoginSettings, ServerMetadata } from './types.ts'

/** A way to be known at a server; tried in order until one is not refused as a client. */
export type ClientChoice =
  | { readonly kind: 'known'; readonly client: ClientIdentity; readonly port: number }
  /** To be registered. */
  | { readonly kind: 'new'; readonly port: number; readonly anyPort: boolean }

/**
 * Who we may be: what the user gave; else who we were before at the same issuer, our metadata document where the
 * server reads those, and a new registration. Empty where nobody gets in just so.
 */
export function findClients({ discovery, settings, client }: LoginRequest): readonly ClientChoice[] {
  const { server, issuer } = discovery
  const port = settings.callbackPort ?? DEFAULT_CALLBACK_PORT
  const given = toGivenClient(discovery, settings)
  if (given) return [{ kind: 'known', client: given, port }]
  const choices: ClientChoice[] = []
  const before = client?.issuer === issuer && mayComeBack(client, server) ? client : undefined
  if (before) choices.push({ kind: 'known', client: before, port: before.callbackPort ?? port })
  const document = settings.clientMetadataUrl
  if (
    server.client_id_metadata_document_supported &&
    document !== undefined &&
    !clientIdUrlProblem(document)
  ) {
    const own = { kind: 'metadata-document', issuer, clientId: document, authMethod: 'none' } as const
    choices.push({ kind: 'known', client: own, port })
  }
  if (server.registration_endpoint !== undefined) {
    choices.push({ kind: 'new', port, anyPort: settings.callbackPort === undefined })
  }
  return choices
}

/**
 * Whether a registered client may log in again. One that shares its redirect URI with other servers needs a server that
 * promises to name itself in its responses.
 */
const mayComeBack = ({ kind, callbackPath }: ClientIdentity, server: ServerMetadata): boolean =>
  kind === 'registered' &&
  (callbackPath !== undefined || server.authorization_response_iss_parameter_supported === true)

/** The client that the user named; undefined when they named none. */
export function toGivenClient(
  { issuer, server }: Discovery,
  { clientId, clientSecret, privateKey }: LoginSettings,
): ClientIdentity | undefined {
  if (clientId === undefined) return undefined
  const base = { kind: 'given', issuer, clientId } as const
  if (privateKey !== undefined) return { ...base, authMethod: 'private_key_jwt' }
  return clientSecret === undefined
    ? { ...base, authMethod: 'none' }
    : { ...base, clientSecret, authMethod: methodForSecret(server) }
}
