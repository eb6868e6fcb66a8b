/**
 * What has to be remembered between the two halves of a login: a code verifier (RFC 7636), a nonce (OpenID Connect
 * Core, section 3.1.2.1). It can be written as JSON.
 */
export type UpstreamChecks = Readonly<Record<string, string>>

/** Tokens of an upstream provider. It can be written as JSON. */
export interface UpstreamTokens {
  readonly accessToken: string
  readonly refreshToken?: string | undefined
  readonly idToken?: string | undefined
  /** In milliseconds since 1970; undefined: the provider does not say. */
  readonly expiresAt?: number | undefined
  readonly scopes?: readonly string[] | undefined
}

/** Who logged in at an upstream provider. */
export interface UpstreamLogin {
  /** Unique at the provider. */
  readonly subject: string
  readonly name?: string | undefined
  readonly email?: string | undefined
  /** What the ID token or the user information of the provider says. */
  readonly claims: Readonly<Record<string, unknown>>
  readonly tokens: UpstreamTokens
}

/** A provider where people log in, in place of an account of our own. */
export interface Upstream {
  readonly name: string
  /** Its name and address. What is kept of one provider is not used for another that takes its name. */
  readonly id: string
  /** Returns the page where a person logs in. Fails with `upstream_unavailable`. */
  authorizationUrl(options: {
    redirectUri: string
    state: string
    signal: AbortSignal
  }): Promise<{ readonly url: string; readonly checks: UpstreamChecks }>
  /**
   * Finishes a login with the URL that the person came back to. Fails with `upstream_login_failed`, or with
   * `upstream_unavailable`.
   */
  finish(options: {
    callback: URL
    redirectUri: string
    checks: UpstreamChecks
    signal: AbortSignal
  }): Promise<UpstreamLogin>
  /** Fails with `upstream_login_failed` when the provider refuses the refresh token. */
  refresh(tokens: UpstreamTokens, options: { signal: AbortSignal }): Promise<UpstreamTokens>
}
