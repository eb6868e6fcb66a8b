import type { AccessProblem, ServerRefusal } from '../../../src/contracts/pipeline.ts'

/** What the header `Authorization` of requests to a remote server is made from. */
export interface Authorization {
  /** The header's value; undefined: the client's goes on. A promise where it is not in memory. */
  value(): string | undefined | Promise<string | undefined>
  /**
   * The server has refused the value. Resolves when there is another one, else with why there is none.
   * Undefined: the client gets the response as it is.
   */
  refused(refusal: ServerRefusal): Promise<AccessProblem | undefined> | undefined
  /** The server has taken the value after it had refused one. */
  taken(): void
  close(): void
}
