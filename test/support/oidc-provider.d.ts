/** The parts of oidc-provider that the tests use; the package has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Grant {
    addOIDCScope(scope: string): void
    addOIDCClaims(claims: string[]): void
    addResourceScope(resource: string, scope: string): void
    save(): Promise<string>
  }

  interface Interaction {
    readonly prompt: { readonly name: string; readonly details: Record<string, unknown> }
    readonly params: { readonly client_id: string; readonly resource?: string | string[] }
    readonly session?: { readonly accountId: string }
    readonly grantId?: string
  }

  /** What a handler of a grant gets. */
  export interface GrantContext {
    readonly oidc: {
      readonly params: Readonly<Record<string, string | undefined>>
      readonly client: { readonly clientId: string }
    }
    body: unknown
  }

  export const errors: Record<
    'InvalidGrant' | 'InvalidRequest' | 'InvalidTarget' | 'AccessDenied',
    new (
      description: string,
    ) => Error
  >

  export default class Provider {
    registerGrantType(
      name: string,
      handler: (context: GrantContext, next: () => Promise<void>) => Promise<void>,
      parameters: readonly string[],
    ): void
    constructor(issuer: string, configuration: Record<string, unknown>)
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: Record<string, unknown>,
    ): Promise<void>
    readonly Grant: {
      new (facts: { accountId: string | undefined; clientId: string }): Grant
      find(id: string): Promise<Grant | undefined>
    }
  }
}
