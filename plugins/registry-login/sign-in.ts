import type { Discovery, OAuthEngine } from '../auth-out/index.ts'
import { failures } from './failures.ts'
import { atProvider } from './provider-failure.ts'
import type { Tokens } from './tokens.ts'
import { toTokens } from './tokens.ts'

/** A login that a person is to make in a browser. */
export interface SignInRequest {
  readonly clientId?: string | undefined
  /** For providers that want to hear who the tokens are for in a parameter of this name. */
  readonly audience?: string | undefined
  /** Where the browser comes back to; 0 is any. */
  readonly port: number
  /** How long the person may take, in milliseconds. */
  readonly waitMs: number
  /** Time limit of one response, in milliseconds. */
  readonly timeoutMs: number
  /** Opens the browser; returns whether it could be started. */
  readonly open: (url: string) => Promise<boolean>
  /** Shows the address to the user. */
  readonly show: (url: string, opened: boolean) => void | Promise<void>
  readonly signal?: AbortSignal | undefined
}

const CALLBACK_PATH = '/callback'

/**
 * Logs in with an authorization code. Without a client ID the provider is asked for a public client, since everybody
 * can read what a program contains. Nothing is stored here.
 */
export async function signIn(
  engine: OAuthEngine,
  discovery: Discovery,
  request: SignInRequest,
): Promise<{ tokens: Tokens; clientId: string }> {
  const { issuer, server } = discovery
  const { clientId, audience, port, timeoutMs, signal } = request
  const withSecret = () =>
    failures.login_client_needed({ issuer, problem: 'it insists on a client with a secret' })
  if (server.authorization_endpoint === undefined) {
    const problem = 'it names no authorization endpoint that is https'
    throw failures.issuer_invalid({ issuer, problem })
  }
  const methods = server.token_endpoint_auth_methods_supported
  if (clientId === undefined && methods && !methods.includes('none')) throw withSecret()
  const { tokens, client } = await atProvider(
    engine.login(
      {
        // A code for another device is nothing that `show` could tell.
        discovery: { ...discovery, server: { ...server, device_authorization_endpoint: undefined } },
        settings: { clientId, callbackPort: port, parameters: audience ? { audience } : {} },
        person: { openBrowser: request.open, show: ({ url, ...step }) => request.show(url, isOpened(step)) },
        waitMs: request.waitMs,
        callbackPath: CALLBACK_PATH,
        assumePkce: true,
      },
      { target: issuer, timeoutMs, signal },
    ),
  )
  if (client.authMethod !== 'none') throw withSecret()
  return { tokens: toTokens(tokens, discovery.resource), clientId: client.clientId }
}

const isOpened = (step: object): boolean => 'opened' in step && step.opened === true
