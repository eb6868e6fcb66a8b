import { clean } from '../../../src/lib/printable.ts'
import { failures } from '../failures.ts'
import type { Access } from './get-document.ts'
import { findResourceMetadata, type ResourceMetadata } from './resource-metadata.ts'
import { toSafeUrl } from './safe-url.ts'
import { type FoundServer, findServerMetadata } from './server-metadata.ts'
import type { BearerChallenge, Discovery, LoginSettings, Reach } from './types.ts'

/** What an OpenID provider is asked for when nobody says which scopes are needed. */
const OPENID_SCOPES = ['openid', 'profile', 'email']

/** Without a person there is nobody to tell of, and no refresh token. */
const OF_PERSONS = ['openid', 'offline_access']

interface Request {
  readonly settings: LoginSettings
  readonly challenge?: BearerChallenge | undefined
}

/**
 * Finds where to log in for the target. What the user says wins: both endpoints, else the issuer. Else the resource
 * metadata counts, then the challenge's realm, then the target's origin (MCP revision 2025-03-26).
 */
export async function discover(request: Request, reach: Reach): Promise<Discovery> {
  const { settings, challenge } = request
  const explicit = fromEndpoints(settings)
  const found = explicit ? undefined : await findResourceMetadata(challenge, settings, reach)
  const metadata = found && 'resource' in found ? found : undefined
  const { server, source } = explicit ?? (await findServer(request, found ?? [], reach))
  const resource = settings.resource ?? metadata?.resource ?? toResource(reach.target)
  return {
    issuer: server.server.issuer,
    server: server.server,
    found: source,
    resource,
    scopes: toScopes(request, metadata, server),
    mayBePrivate: server.isPrivate,
  }
}

/** See `OAuthEngine`. */
export async function discoverIssuer(
  { issuer, scopes }: { readonly issuer: string; readonly scopes: readonly string[] },
  reach: Omit<Reach, 'target'>,
): Promise<Discovery> {
  const { server, isPrivate } = await namedServer(issuer, { mayBePrivate: false, isNamed: true }, reach)
  return { issuer, server, found: 'settings', resource: '', scopes, mayBePrivate: isPrivate }
}

/** The metadata of an issuer that the user named, or else a registry entry. */
async function namedServer(
  issuer: string,
  access: Access,
  reach: Omit<Reach, 'target'>,
): Promise<FoundServer> {
  const server = await findServerMetadata(issuer, access, reach)
  if (!server) throw withoutMetadata(issuer)
  return server
}

const withoutMetadata = (issuer: string): Error =>
  failures.remote_issuer_invalid({ issuer, problem: 'it has no metadata (RFC 8414)' })

interface Source {
  readonly server: FoundServer
  readonly source: Discovery['found']
}

/** Without metadata the token endpoint stands for the issuer, since credentials belong to exactly one. */
function fromEndpoints({
  authorizeUrl,
  tokenUrl,
  isMachine,
  placeMustBePublic,
}: LoginSettings): Source | undefined {
  if (tokenUrl === undefined || (authorizeUrl === undefined && !isMachine)) return undefined
  const [token, authorize] = [tokenUrl, ...(authorizeUrl === undefined ? [] : [authorizeUrl])].map(text => {
    const url = toSafeUrl(text)
    if (url) return url.href
    throw failures.remote_issuer_invalid({ issuer: clean(text), problem: 'it is not an https URL' })
  })
  return {
    server: {
      server: {
        issuer: token as string,
        authorization_endpoint: authorize,
        token_endpoint: token,
      },
      isPrivate: !placeMustBePublic,
      isOpenId: false,
    },
    source: 'none',
  }
}

async function findServer(
  { settings, challenge }: Request,
  found: Awaited<ReturnType<typeof findResourceMetadata>>,
  reach: Reach,
): Promise<Source> {
  if (settings.issuer !== undefined) {
    const access = { mayBePrivate: false, isNamed: !settings.placeMustBePublic }
    return { server: await namedServer(settings.issuer, access, reach), source: 'settings' }
  }
  if ('resource' in found && found.issuers.length) {
    return { server: await firstOf(found, reach), source: 'resource-metadata' }
  }
  const target = new URL(reach.target)
  const realm = toIssuer(challenge?.realm)
  if (realm !== undefined) {
    const access = { mayBePrivate: challenge?.isPrivate === true && !reach.mustBePublic }
    const server = await findServerMetadata(realm, access, reach)
    if (server) return { server, source: 'realm' }
  }
  if (toSafeUrl(target.origin)) {
    const access = { mayBePrivate: false, isNamed: !reach.mustBePublic }
    const server = await findServerMetadata(target.origin, access, reach)
    if (server) return { server, source: 'origin' }
  }
  const [first] = 'resource' in found ? [] : found
  const problem = first ? `${clean(first.url)}: ${first.problem}` : 'its metadata names no issuer'
  throw failures.remote_login_place_unknown({ target: target.href, problem })
}

/** The first issuer whose metadata holds; the first problem when none does (RFC 9728 section 7.6). */
async function firstOf({ issuers, isPrivate }: ResourceMetadata, reach: Reach): Promise<FoundServer> {
  const problems: unknown[] = []
  for (const issuer of issuers) {
    try {
      const server = await findServerMetadata(issuer, { mayBePrivate: isPrivate }, reach)
      if (server) return server
      problems.push(withoutMetadata(clean(issuer)))
    } catch (error) {
      reach.signal?.throwIfAborted()
      problems.push(error)
    }
  }
  throw problems[0]
}

/** A realm that is a URL is meant as the issuer. */
function toIssuer(realm: string | undefined): string | undefined {
  const url = toSafeUrl(realm?.replace(/[?#].*$/, ''))
  return url && (url.pathname === '/' ? url.origin : url.href)
}

/** The target as a resource identifier (RFC 8707 section 2; the MCP specification's "Canonical Server URI"). */
function toResource(target: string): string {
  const { origin, pathname } = new URL(target)
  return pathname === '/' ? origin : `${origin}${pathname}`
}

/**
 * The scopes to ask for (the MCP specification's "Scope Selection Strategy"). With scopes goes `offline_access`
 * where the server has it, unless the user named the scopes.
 */
function toScopes(
  { settings, challenge }: Request,
  metadata: ResourceMetadata | undefined,
  { server, isOpenId }: FoundServer,
): readonly string[] {
  const { scopes_supported: supported } = server
  if (settings.scopes) return union(settings.scopes, challenge?.status === 403 ? challenge.scopes : [])
  const openId =
    isOpenId && !metadata && !settings.isMachine
      ? OPENID_SCOPES.filter(one => supported?.includes(one) ?? true)
      : []
  const scopes = challenge?.scopes ?? metadata?.scopes ?? openId
  if (settings.isMachine) return union(scopes.filter(one => !OF_PERSONS.includes(one)))
  const offline = scopes.length && supported?.includes('offline_access') ? ['offline_access'] : []
  return union(scopes, offline)
}

export const union = (one: readonly string[], other: readonly string[] = []): string[] => [
  ...new Set([...one, ...other]),
]
