import { isDeepStrictEqual } from 'node:util'
import { GITHUB_ISSUER, issuerOf, type Provenance } from './provenance.ts'
import type { SignerClaims } from './signer-claims.ts'
import type { Statement } from './statement.ts'

/**
 * What does not fit between a verified signature and what the registry entry expects; undefined when
 * all fits. Every comparison is of whole strings: nothing is a pattern.
 */
export function findMismatch(
  expected: Provenance,
  claims: SignerClaims,
  statement: Statement | undefined,
): string | undefined {
  const pairs = [
    ['built from the repository', claims.repositoryUri, expected.repository_uri],
    ['built from the ref', claims.repositoryRef, expected.repository_ref],
    ['built on a runner of the kind', claims.runnerEnvironment, expected.runner_environment],
    ['signed with a certificate for the login at', claims.issuer, issuerOf(expected)],
  ] as const
  for (const [what, found, wanted] of pairs) {
    if (wanted && found !== wanted) return `it was ${what} ${show(found)}, not ${show(wanted)}`
  }
  if (expected.signer_identity && !isSigner(expected, claims, expected.signer_identity)) {
    return `it was signed by ${show(claims.identity)}, not ${show(expected.signer_identity)}`
  }
  return expected.attestation && findAttestationMismatch(expected.attestation, statement)
}

/**
 * The identity is the certificate's whole name. Of a GitHub workflow it may also be the URL without
 * `@ref`, or the path in the repository that is expected; the path alone would fit any repository.
 */
function isSigner(
  { repository_uri: repository }: Provenance,
  { identity, issuer }: SignerClaims,
  wanted: string,
): boolean {
  if (identity === wanted) return true
  if (issuer !== GITHUB_ISSUER) return false
  const workflow = withoutRef(identity)
  if (workflow === wanted) return true
  return Boolean(repository) && workflow === `${repository}${wanted}` && wanted.startsWith('/')
}

/** The URL of a workflow without its ref. A file name may hold an @, but no slash: the first `@refs/` begins the ref. */
export const withoutRef = (identity: string): string =>
  identity.replace(/^(.*?)@(?:refs\/.*|[0-9a-f]{40})$/s, '$1')

function findAttestationMismatch(
  { predicate_type, predicate }: NonNullable<Provenance['attestation']>,
  statement: Statement | undefined,
): string | undefined {
  const isGiven = predicate !== undefined && predicate !== null
  if (!predicate_type && !isGiven) return undefined
  if (!statement) return 'it is a plain signature, not an attestation'
  if (predicate_type && statement.predicateType !== predicate_type) {
    return `it attests ${show(statement.predicateType)}, not ${show(predicate_type)}`
  }
  if (isGiven && !isDeepStrictEqual(statement.predicate, predicate)) {
    return 'what it attests is not what the registry expects'
  }
  return undefined
}

/** Text from a certificate, which anybody may have written, made fit for a message. */
function show(text: string): string {
  const clean = text.replace(/[^\x20-\x7e]/g, '?')
  return clean ? `"${clean.length > 200 ? `${clean.slice(0, 200)}…` : clean}"` : 'an unknown value'
}
