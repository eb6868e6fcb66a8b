import { clean } from '../../../src/lib/printable.ts'
import { failures } from '../failures.ts'
import { type Access, type Document, getDocument, type NoDocument } from './get-document.ts'
import { isWrittenPrivate, toSafeUrl } from './safe-url.ts'
import type { Reach, ServerMetadata } from './types.ts'

/** Metadata of an authorization server, and how it was found. */
export interface FoundServer {
  readonly server: ServerMetadata
  readonly isPrivate: boolean
  /** From OpenID Connect Discovery, not from RFC 8414. */
  readonly isOpenId: boolean
}

const ENDPOINTS = [
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
  'device_authorization_endpoint',
] as const
const LISTS = [
  'scopes_supported',
  'grant_types_supported',
  'code_challenge_methods_supported',
  'token_endpoint_auth_methods_supported',
  'token_endpoint_auth_signing_alg_values_supported',
] as const
const FLAGS = [
  'authorization_response_iss_parameter_supported',
  'client_id_metadata_document_supported',
] as const
const MOST_ENTRIES = 1000

/**
 * Reads the metadata of an issuer (RFC 8414, then OpenID Connect Discovery). The document's `issuer` must be exactly
 * the one asked for (RFC 8414 section 3.3). Where the first document names no place to register clients, a second
 * one of the same issuer may. Undefined when none of the places has a document. Fails with `remote_issuer_invalid`
 * or `remote_issuer_unreachable`.
 */
export async function findServerMetadata(
  issuer: string,
  access: Access,
  reach: Omit<Reach, 'target'>,
): Promise<FoundServer | undefined> {
  const url = toSafeUrl(issuer)
  if (!url || url.search || issuer !== clean(issuer).trim()) {
    const problem = 'an issuer is an https URL without a query'
    throw failures.remote_issuer_invalid({ issuer: clean(issuer).slice(0, 200), problem })
  }
  let found: FoundServer | undefined
  const problems: Pick<NoDocument, 'kind' | 'problem'>[] = []
  for (const place of placesOf(url)) {
    const document = await getDocument(place, access, reach)
    const next = 'problem' in document ? document : read(document, issuer, access)
    if ('problem' in next) problems.push(next)
    else if (!found) found = next
    else if (next.server.registration_endpoint) found = withRegistration(found, next)
    if (found?.server.registration_endpoint) return found
  }
  const worst = problems.find(({ kind }) => kind === 'refused') ?? problems.find(isUnreachable)
  if (found || !worst) return found
  const { problem } = worst
  throw isUnreachable(worst)
    ? failures.remote_issuer_unreachable({ issuer, problem })
    : failures.remote_issuer_invalid({ issuer, problem })
}

const isUnreachable = ({ kind }: Pick<NoDocument, 'kind'>): boolean => kind === 'unreachable'

const withRegistration = (found: FoundServer, { server }: FoundServer): FoundServer => ({
  ...found,
  server: { ...found.server, registration_endpoint: server.registration_endpoint },
})

/** In the order of the MCP specification ("Authorization Server Metadata Discovery"). */
function placesOf({ origin, pathname }: URL): Set<string> {
  const path = pathname.replace(/\/+$/, '')
  return new Set([
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ])
}

/** The metadata, or what is wrong with it. */
function read(
  document: Document,
  issuer: string,
  access: Access,
): FoundServer | Pick<NoDocument, 'kind' | 'problem'> {
  const { value } = document
  if (value.issuer !== issuer) {
    const other = typeof value.issuer === 'string' ? clean(value.issuer).slice(0, 200) : 'nobody'
    return { kind: 'refused', problem: `its metadata is that of ${other}` }
  }
  const mayBePrivate = document.isPrivate || access.mayBePrivate
  const endpoints = ENDPOINTS.flatMap(name => {
    const url = typeof value[name] === 'string' ? toSafeUrl(value[name]) : undefined
    return url && (mayBePrivate || !isWrittenPrivate(url)) ? [[name, url.href]] : []
  })
  const lists = LISTS.flatMap(name => {
    const list: unknown = value[name]
    return Array.isArray(list)
      ? [[name, list.filter(item => typeof item === 'string').slice(0, MOST_ENTRIES)]]
      : []
  })
  const flags = FLAGS.flatMap(name => (typeof value[name] === 'boolean' ? [[name, value[name]]] : []))
  const server: ServerMetadata = { issuer, ...Object.fromEntries([...endpoints, ...lists, ...flags]) }
  return server.token_endpoint === undefined
    ? { kind: 'refused', problem: 'it names no token endpoint that may be used' }
    : { server, isPrivate: mayBePrivate, isOpenId: document.url.includes('openid-configuration') }
}
