/** Who asks, as the token of the request says. */
export interface Caller {
  /** Unique with one issuer. */
  readonly subject: string
  /** All that the token says. */
  readonly claims: Readonly<Record<string, unknown>>
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
  admit(
    authorization: string | undefined,
  ): Promise<{ readonly caller: Caller } | { readonly refusal: Refusal }>
  /** The document that says which servers issue tokens (RFC 9728), if the resource has a URL. */
  readonly metadata: ResourceMetadata | undefined
}

export interface ResourceMetadata {
  /** Path it is found at. */
  readonly path: string
  readonly document: Readonly<Record<string, unknown>>
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
  /** Scopes that callers are told to ask for. They are not enforced. */
  readonly scopes?: readonly string[]
  /** The URL of what is protected, as callers know it. */
  readonly resourceUrl?: string | undefined
  /** PEM certificates that are trusted besides those of the system when the provider is asked. */
  readonly ca?: string | undefined
  readonly allowPrivateIp?: boolean
  readonly allowHttp?: boolean
}
