import type { IncomingMessage, ServerResponse } from 'node:http'

/** Who asks, as the token of the request says. The token itself is no part of it. */
export interface Caller {
  /** Unique with one issuer. */
  readonly subject: string
  /** Who issued the token; undefined where only the keys of the issuer are known. */
  readonly issuer?: string | undefined
  /** All that the token says. */
  readonly claims: Readonly<Record<string, unknown>>
  /** The groups that the token names. */
  readonly groups?: readonly string[]
  /** Who acts for the subject (RFC 8693, section 4.1): the current actor first, then who acted before. */
  readonly actors?: readonly Actor[]
}

/** How a caller has logged in. */
export interface CallerLogin {
  readonly caller: Caller
  /** The header `Authorization` of the request that was accepted. */
  readonly authorization: string | undefined
}

export interface Actor {
  readonly subject: string
  readonly issuer?: string | undefined
}

/** An authorization server in this process, whose tokens a workload accepts. */
export interface LocalIssuer {
  readonly issuer: string
  /** The audience of the tokens that it issues for the workload. */
  readonly audience: string
  /** The scopes that callers are told to request. */
  readonly scopes: readonly string[]
  /** The public keys (RFC 7517) that its tokens are checked with. */
  keys(): Promise<Readonly<Record<string, unknown>>>
  /** Whether the grant behind a token whose signature is valid still exists. */
  isActive(claims: Readonly<Record<string, unknown>>): Promise<boolean>
}

/** An authorization server in front of the management API, as its flags ask for it. */
export interface AuthServerOffer {
  /** Paths that people open in a browser: links of other sites may lead there. */
  readonly pages: readonly string[]
  /** `url` is the server's own address. Fails where callers would not find it there. */
  open(url: string): Promise<LocalAuthServer>
}

export interface LocalAuthServer {
  readonly issuer: LocalIssuer
  /** Responds to a request for one of its own paths; undefined: the path is of something else. */
  respond(request: IncomingMessage, response: ServerResponse): Promise<void> | undefined
  close(): Promise<void>
}

/** The response to a caller who is refused: bytes for any HTTP server. */
export interface Refusal {
  /** 401: log in. 403: not with this account. 503: whether the token is good cannot be found out now. */
  readonly status: 401 | 403 | 503
  readonly headers: Readonly<Record<string, string>>
  /** `{"error", "error_description"}` (RFC 6750, section 3.1). */
  readonly body: string
}

/** Accepts callers by the bearer token of their requests. */
export interface CallerAuth {
  /**
   * `host` is the header of this name: clients are told the URL that they asked for. `token` is what was sent, for
   * those alone that exchange it.
   */
  admit(
    authorization: string | undefined,
    host?: string,
  ): Promise<{ readonly caller: Caller; readonly token: string } | { readonly refusal: Refusal }>
  /** The document that says which servers issue tokens (RFC 9728), if the resource has a URL. */
  readonly metadata: ResourceMetadata | undefined
}

export interface ResourceMetadata {
  /** Path it is found at. */
  readonly path: string
  /** The URL of what is protected. */
  readonly resource: string
  /** Returns the document for a client that sent this header `Host`: `resource` is what it asked (RFC 9728, section 3.3). */
  describe(host: string | undefined): Readonly<Record<string, unknown>>
  /** Where such a client finds it. */
  urlFor(host: string | undefined): string
}

/** How callers log in. */
export interface CallerAuthConfig {
  /** Whose tokens are taken; where its keys are is asked there unless `jwksUrl` says. */
  readonly issuer?: string | undefined
  /** The audience that tokens must have. Without it the service is refused. */
  readonly audience?: string | undefined
  /** `claim=value`: who is accepted. Values of one claim are alternatives; all claims named must fit. */
  readonly allow?: readonly string[]
  readonly jwksUrl?: string | undefined
  /** The endpoint that checks tokens of other forms than JWT (RFC 7662). */
  readonly introspectionUrl?: string | undefined
  /** How we log in there. */
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  /** Tokens have to say that they are access tokens (`typ: at+jwt`, RFC 9068). */
  readonly accessTokensOnly?: boolean
  /** Scopes that callers are told to request. Tokens must have them, but for those of OpenID Connect itself. */
  readonly scopes?: readonly string[]
  /** The URL of what is protected, as callers know it. */
  readonly resourceUrl?: string | undefined
  /** Path of a file with a bearer token for the documents of the issuer; read again for each request. */
  readonly authTokenFile?: string | undefined
  /** PEM certificates that are trusted besides those of the system when the provider is asked. */
  readonly ca?: string | undefined
  readonly allowPrivateIp?: boolean
  readonly allowHttp?: boolean
}
