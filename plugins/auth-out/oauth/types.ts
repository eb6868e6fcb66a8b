// All values here are plain data: they survive JSON, so that a caller may keep or pass on any of them.

/** What the user says about the login to a remote server. Each member wins over what servers say. */
export interface LoginSettings {
  readonly issuer?: string | undefined
  /** With `tokenUrl` an alternative to `issuer`, for servers without metadata. */
  readonly authorizeUrl?: string | undefined
  readonly tokenUrl?: string | undefined
  /** A stranger named the issuer or the endpoints: they may not be private. */
  readonly placeMustBePublic?: boolean | undefined
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  /** Client credentials: nobody logs in (RFC 6749 section 4.4). */
  readonly isMachine?: boolean | undefined
  /** PKCS #8 in PEM, or a JSON Web Key as text: signs client assertions (RFC 7523) instead of a secret. */
  readonly privateKey?: string | undefined
  /** JWS algorithm of `privateKey`, for example ES256; needed where the key does not say. */
  readonly privateKeyAlgorithm?: string | undefined
  /** URL of our client ID metadata document; without one, no server is offered a document. */
  readonly clientMetadataUrl?: string | undefined
  readonly scopes?: readonly string[] | undefined
  /** Name of the parameter that carries the scopes in the authorization URL. */
  readonly scopeParameter?: string | undefined
  /** Further parameters of the authorization URL. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
  /** RFC 8707; without one, what the protected resource says of itself, else the target's URL. */
  readonly resource?: string | undefined
  readonly callbackPort?: number | undefined
}

/** How the servers that take part in a login are reached. */
export interface Reach {
  /** The remote MCP server, as it was named. Decides whether server-named URLs may be private. */
  readonly target: string
  /** A stranger named the target: neither it nor what it names may be private. */
  readonly mustBePublic?: boolean | undefined
  /** The era of MCP that the user has set for the target; undefined: both are tried. */
  readonly protocol?: 'legacy' | 'stateless' | undefined
  /** PEM certificates that are trusted besides those of the system. */
  readonly ca?: string | undefined
  /** Time limit of one response, in milliseconds; 10 seconds without it. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** A Bearer challenge (RFC 6750 section 3, RFC 9728 section 5.1). */
export interface BearerChallenge {
  /** HTTP status that it came with. */
  readonly status: 401 | 403
  readonly realm?: string | undefined
  readonly scopes?: readonly string[] | undefined
  readonly error?: string | undefined
  /** As the server sent it: escape it before it is shown. */
  readonly errorDescription?: string | undefined
  readonly resourceMetadata?: string | undefined
  /** Whether it came from a private address, so that what it names may be private too. */
  readonly isPrivate?: boolean | undefined
}

/** Whether a remote server demands a login. */
export type Detection =
  /** It responds without credentials. */
  | { readonly kind: 'none' }
  | { readonly kind: 'login'; readonly challenge: BearerChallenge }
  /** It demands something that is not OAuth, for example Basic. Schemes are in lower case. */
  | { readonly kind: 'other'; readonly schemes: readonly string[] }
  /** It cannot be asked now. */
  | { readonly kind: 'unreachable'; readonly problem: string }

/** What is used of authorization server metadata (RFC 8414, OpenID Connect Discovery). */
export interface ServerMetadata {
  readonly issuer: string
  readonly authorization_endpoint?: string | undefined
  readonly token_endpoint?: string | undefined
  readonly registration_endpoint?: string | undefined
  readonly revocation_endpoint?: string | undefined
  readonly device_authorization_endpoint?: string | undefined
  readonly jwks_uri?: string | undefined
  readonly scopes_supported?: readonly string[] | undefined
  readonly grant_types_supported?: readonly string[] | undefined
  readonly code_challenge_methods_supported?: readonly string[] | undefined
  readonly token_endpoint_auth_methods_supported?: readonly string[] | undefined
  readonly token_endpoint_auth_signing_alg_values_supported?: readonly string[] | undefined
  readonly authorization_response_iss_parameter_supported?: boolean | undefined
  readonly client_id_metadata_document_supported?: boolean | undefined
}

/** Where to log in for a remote server, and for what. */
export interface Discovery {
  readonly issuer: string
  readonly server: ServerMetadata
  /** `none`: the user gave both endpoints, there is no metadata. */
  readonly found: 'settings' | 'resource-metadata' | 'realm' | 'origin' | 'none'
  /** The resource indicator to send (RFC 8707). Empty: none is sent. */
  readonly resource: string
  /** To ask for: those of the settings, else of the challenge, else of the resource metadata. Empty: none. */
  readonly scopes: readonly string[]
  /** Whether the endpoints may be at private addresses: the user, or somebody there, named them. */
  readonly mayBePrivate: boolean
}

/** How a client proves who it is at the token endpoint (RFC 7591 section 2). */
export type ClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt'

/** Who we are at one issuer. Never to be used at another. */
export interface ClientIdentity {
  readonly kind: 'given' | 'metadata-document' | 'registered'
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: string | undefined
  readonly authMethod: ClientAuthMethod
  /** Milliseconds since 1970; absent when the secret does not expire. */
  readonly secretExpiresAt?: number | undefined
  /** Where the registration can be read and changed (RFC 7592). The token is a secret. */
  readonly registration?: { readonly uri: string; readonly accessToken: string } | undefined
  /** The port that was registered in the redirect URI; a later login must use it again. */
  readonly callbackPort?: number | undefined
  /** The same for its path; absent for `/callback`. */
  readonly callbackPath?: string | undefined
}

/** What a login gave. Access and ID tokens are for memory only. */
export interface TokenSet {
  readonly accessToken: string
  readonly refreshToken?: string | undefined
  /** Its signature and claims are not checked: it is there to be exchanged (RFC 8693), not to tell who somebody is. */
  readonly idToken?: string | undefined
  /** Milliseconds since 1970; absent when the server does not say. */
  readonly expiresAt?: number | undefined
  /** Granted: what the server says, else what was asked for (RFC 6749 section 5.1). */
  readonly scopes: readonly string[]
}

/** What the person has to do. URLs are checked (http or https) but otherwise as the server made them. */
export type LoginStep =
  | { readonly kind: 'browser'; readonly url: string; readonly opened: boolean }
  | {
      readonly kind: 'device'
      readonly url: string
      /** The same with the code in it, where the server gives one. */
      readonly completeUrl?: string | undefined
      readonly userCode: string
      /** Milliseconds since 1970. */
      readonly expiresAt: number
    }

/** The person who logs in. */
export interface Person {
  /** Shows a step; called before anything is waited for. */
  show(step: LoginStep): void | Promise<void>
  /** Opens the browser. Absent: there is none, or the user wants none. Returns whether it could be started. */
  openBrowser?: ((url: string) => Promise<boolean>) | undefined
  /**
   * Asks for the URL that the browser ended at; again with what was wrong with the one before. Absent: nobody is
   * at a terminal.
   */
  askForRedirect?: ((signal: AbortSignal, problem: string | undefined) => Promise<string>) | undefined
}

export interface LoginRequest {
  readonly discovery: Discovery
  readonly settings: LoginSettings
  /** Of an earlier login at the same issuer; without one, the engine finds or registers one. */
  readonly client?: ClientIdentity | undefined
  /** Of the grant that a step-up extends; they are asked for again. */
  readonly grantedScopes?: readonly string[] | undefined
  readonly person: Person
  /** How long the person may take, in milliseconds. */
  readonly waitMs: number
  /** Path of the redirect URI of a new client, for callers that keep no more of it than its ID. */
  readonly callbackPath?: string | undefined
  /** A server that lists no PKCE methods counts as one that knows S256 (outside of MCP many list none). */
  readonly assumePkce?: boolean | undefined
}

export interface LoginResult {
  readonly tokens: TokenSet
  /** Keep it: registered clients are not to be registered again. */
  readonly client: ClientIdentity
}

/** Tokens without a person (RFC 6749 section 4.4). */
export interface MachineLoginRequest {
  readonly discovery: Discovery
  readonly settings: LoginSettings
}

export interface RefreshRequest {
  readonly discovery: Discovery
  readonly client: ClientIdentity
  /** Signing key of a client with `private_key_jwt`. */
  readonly settings: LoginSettings
  readonly tokens: Pick<TokenSet, 'refreshToken' | 'scopes'>
  /** Gets new tokens by client credentials, as `loginAsMachine` does, instead of by the refresh token. */
  readonly asMachine?: boolean | undefined
}

/** How a refresh ended. */
export type RefreshResult =
  | { readonly kind: 'renewed'; readonly tokens: TokenSet }
  /** Trying again later may work: name lookup, connection, time-out, 5xx, 429, a response without OAuth code. */
  | { readonly kind: 'transient'; readonly problem: string; readonly retryAfterMs?: number | undefined }
  /** Only a new login helps. `code` is the OAuth error code (RFC 6749 section 5.2). */
  | { readonly kind: 'permanent'; readonly code: string; readonly problem: string }

/** The OAuth client for remote MCP servers. Keeps nothing between calls. Failures are those of this plugin. */
export interface OAuthEngine {
  /** Asks the target by GET and POST, in both eras of the protocol. Never throws for what the server does. */
  detect(reach: Reach): Promise<Detection>
  /** Reads the challenge of a response with status 401 or 403; undefined when it demands no login. */
  readChallenge(status: number, wwwAuthenticate: string | undefined): BearerChallenge | undefined
  /** Finds where to log in. Fails with `remote_login_place_unknown`, `remote_issuer_invalid` or `…_unreachable`. */
  discover(
    request: { readonly settings: LoginSettings; readonly challenge?: BearerChallenge | undefined },
    reach: Reach,
  ): Promise<Discovery>
  /**
   * Reads what an issuer says of itself, for those that know it and its scopes; a target is not asked, and no resource
   * is sent. Fails with `remote_issuer_invalid` or `…_unreachable`.
   */
  discoverIssuer(
    request: { readonly issuer: string; readonly scopes: readonly string[] },
    reach: Omit<Reach, 'target'>,
  ): Promise<Discovery>
  /** Logs a person in: browser, pasted URL or device code. */
  login(request: LoginRequest, reach: Reach): Promise<LoginResult>
  /** Logs a machine in with a secret or a private key. */
  loginAsMachine(request: MachineLoginRequest, reach: Reach): Promise<LoginResult>
  /** Renews tokens. Throws only when aborted. */
  refresh(request: RefreshRequest, reach: Reach): Promise<RefreshResult>
  /** Takes tokens back (RFC 7009). Returns false where the server has no place for that. */
  revoke(
    request: Omit<RefreshRequest, 'tokens' | 'asMachine'> & {
      readonly tokens: Partial<Pick<TokenSet, 'accessToken' | 'refreshToken'>>
    },
    reach: Reach,
  ): Promise<boolean>
  /**
   * Renews the secret of a registered client that expires within a day (RFC 7592). Returns the client unchanged
   * when that is not needed or not possible; fails once the secret has expired.
   */
  renewClient(
    request: { readonly client: ClientIdentity; readonly discovery: Discovery },
    reach: Reach,
  ): Promise<ClientIdentity>
}
