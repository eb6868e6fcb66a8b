import { failures } from '../failures.ts'
import type { FetchDocument } from './fetch-document.ts'

/**
 * Finds where the keys of an issuer are: OpenID Connect Discovery 1.0, section 4.
 *
 * A document of another issuer is refused (section 4.3), or it could have its keys believed here.
 */
export async function findJwks(issuer: string, fetchDocument: FetchDocument): Promise<string> {
  const base = issuer.replace(/\/+$/, '')
  const { issuer: named, jwks_uri: uri } = await fetchDocument(`${base}/.well-known/openid-configuration`)
  const problem = (text: string) =>
    failures.auth_unavailable({ problem: `the discovery document of ${base} ${text}` })
  if (typeof named !== 'string' || named.replace(/\/+$/, '') !== base) throw problem('names another issuer')
  if (typeof uri !== 'string' || !URL.canParse(uri))
    throw problem('does not say where its keys are (jwks_uri)')
  return uri
}
