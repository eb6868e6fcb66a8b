import { CALLER_TOKEN_HEADER } from '../../src/http/caller-token-header.ts'

/** The headers that show the caller token; none where none is required. */
export const callerHeaders = (token: string | undefined): Readonly<Record<string, string>> =>
  token === undefined ? {} : { [CALLER_TOKEN_HEADER]: token }
