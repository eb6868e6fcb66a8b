import { Failure, isFailure } from '../../src/errors.ts'

/** 401 would ask the caller to log in here; it is the server behind that wants a login. */
export function asBadGateway(error: unknown): never {
  if (!isFailure(error, 'mcp_unauthorized') && !isFailure(error, 'mcp_workload_guarded')) throw error
  throw new Failure(error.code, { text: error.message, status: 502 }, { cause: error })
}
