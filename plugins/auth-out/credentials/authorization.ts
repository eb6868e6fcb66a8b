import type { AccessProblem, ServerRefusal } from '../../../src/contracts/pipeline.ts'

/** What a request gets as `Authorization`: nothing of ours where `header` is undefined. */
export type AuthorizationValue =
  | {
      readonly header: string | undefined
      /** The ID token of the same login, for the stage that exchanges it. */
      readonly idToken?: string | undefined
    }
  | { readonly problem: AccessProblem }

/** What the header `Authorization` of requests to a remote server is made from. */
export interface Authorization {
  /** For a request whose client sends a header of its own or not. A promise where the value is not in memory. */
  value(hasOwn: boolean): AuthorizationValue | Promise<AuthorizationValue>
  /**
   * The server has refused a request with this header of ours. Resolves when there is another value, else with
   * why there is none. Undefined: the client gets the response as it is.
   */
  refused(refusal: ServerRefusal, sent: string | undefined): Promise<AccessProblem | undefined> | undefined
  /** The server has taken a request after it had refused one. */
  taken(): void
  /** Finds out what login the server requires, which has refused a request without credentials. */
  lookAhead?(): void
  close(): void
}
