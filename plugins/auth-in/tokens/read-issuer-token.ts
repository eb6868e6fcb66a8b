import { isFailure } from '../../../src/errors.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { failures } from '../failures.ts'

/** RFC 6750, section 2.1: `b64token`. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/

/**
 * The header with the token of a file, which is read each time because such tokens are replaced often. Fails with
 * `auth_unavailable`.
 */
export async function readIssuerToken(path: string | undefined): Promise<Record<string, string>> {
  if (!path) return {}
  try {
    const token = (await readUserFile(path, 'The --jwks-auth-token-file')).trim()
    if (TOKEN.test(token)) return { authorization: `Bearer ${token}` }
  } catch (error) {
    if (!isFailure(error)) throw error
    throw failures.auth_unavailable({ problem: error.message.replace(/\.$/, '') }, { cause: error })
  }
  throw failures.auth_unavailable({ problem: `the file ${path} does not hold one bearer token` })
}
