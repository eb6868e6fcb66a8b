import type { App } from '../../src/app.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { ResolveContext } from '../../src/contracts/target.ts'
import { clean } from '../../src/lib/printable.ts'
import { isResourceOf } from '../../src/lib/resource-of-server.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { assertPublicRemote, isPublicRegistry, type RegistryPlace } from './entry-places.ts'
import { failures } from './failures.ts'
import type { OAuthConfig } from './formats/server-facts.ts'

type RemoteAuth = NonNullable<RunConfig['remote_auth_config']>

interface Entry {
  readonly name: string
  /** Of the remote server. */
  readonly url: string
  readonly oauth_config?: OAuthConfig | undefined
}

const FIRST_USER_PORT = 1024

/**
 * What an entry says about the login at its server, without what the user says otherwise. It names no secret or file,
 * and asks for tokens of its own server only. Fails with `entry_refused`.
 */
export async function collectLogin(
  app: App,
  entry: Entry,
  from: RegistryPlace,
  context: Pick<ResolveContext, 'asked' | 'ask'>,
): Promise<RemoteAuth | undefined> {
  const { name, oauth_config: said } = entry
  const given = context.asked.remote_auth_config ?? {}
  if (!said || given.bearer_token || given.bearer_token_file) return undefined
  const { add_plaintext_headers = {}, add_headers_from_secret = {} } = context.asked.header_forward ?? {}
  const headers = Object.keys({ ...add_plaintext_headers, ...add_headers_from_secret })
  if (headers.some(header => header.toLowerCase() === 'authorization')) return undefined
  const place = given.issuer || given.authorize_url || given.token_url ? {} : placeOf(said)
  for (const url of Object.values(place)) {
    if (!isLoginUrl(url)) throw refused(name, `${url}: a login is at an https URL`)
    await assertPublicRemote(name, url, from)
  }
  const where = place.issuer ?? place.authorize_url
  const clientId = where === undefined || given.client_id ? undefined : said.client_id
  const resource = given.resource ? undefined : said.resource
  if (resource && !isResourceOf(resource, entry.url)) {
    throw refused(name, `${resource}: it asks for tokens of another server`)
  }
  if (where !== undefined) {
    const who = clientId ? ` as the client ${clean(clientId)}` : ''
    app.log.info(`The entry of "${clean(name)}" says to log in at ${clean(where)}${who}.`)
  }
  const { callback_port: port = 0, scopes = [], oauth_params: parameters = {} } = said
  const auth: RemoteAuth = {
    ...place,
    ...(clientId ? { client_id: clientId } : {}),
    ...(where && (await isPublicRegistry(from)) ? { must_be_public: true } : {}),
    ...(resource ? { resource } : {}),
    ...(scopes.length && !given.scopes?.length ? { scopes } : {}),
    ...(Object.keys(parameters).length ? { oauth_params: { ...parameters, ...given.oauth_params } } : {}),
    ...(port >= FIRST_USER_PORT && !given.callback_port ? { callback_port: port } : {}),
    ...(place.authorize_url && !clientId && !given.client_id ? await askForClient(where ?? '', context) : {}),
  }
  return Object.keys(auth).length ? auth : undefined
}

/** Both endpoints, else the issuer. */
function placeOf({
  issuer,
  authorize_url,
  token_url,
}: OAuthConfig): Pick<RemoteAuth, 'issuer' | 'authorize_url' | 'token_url'> {
  if (authorize_url && token_url) return { authorize_url, token_url }
  return issuer ? { issuer } : {}
}

/** Where only the endpoints are known, nobody registers a client: the person has one, or there is no login. */
async function askForClient(place: string, { ask }: Pick<ResolveContext, 'ask'>): Promise<RemoteAuth> {
  const client_id = (await ask?.(`OAuth client ID at ${clean(place)}`))?.trim()
  if (!client_id) return {}
  const client_secret = (await ask?.('Its secret, if it has one', { hidden: true }))?.trim()
  return { client_id, ...(client_secret ? { client_secret } : {}) }
}

function isLoginUrl(text: string): boolean {
  const url = URL.parse(text)
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
}

const refused = (name: string, problem: string) =>
  failures.entry_refused({ server: clean(name), problems: [clean(problem)] })
