import { createKeptOutcomes, type Outcome } from '../../src/lib/kept-outcomes.ts'
import { assumeRole, type Credentials, type StsProblem, stsEndpoint } from './assume-role.ts'
import { createChooseRole } from './choose-role.ts'
import type { AwsStsConfig } from './section.ts'
import { sessionNameOf } from './session-name.ts'

/** Why a caller gets no credentials of AWS. */
export type CredentialsProblem = StsProblem | { readonly kind: 'role' } | { readonly kind: 'session' }

type Result = Outcome<Credentials, CredentialsProblem>

/** How many credentials are held, and how many calls to STS run at once. */
const LIMITS = { most: 4096, mostAtOnce: 1024 }
const DEFAULT_SECONDS = 3600
/** How long before their end credentials are replaced, in milliseconds. */
const MARGIN_MS = 5 * 60_000
/** How long a refusal counts, in milliseconds. */
const REFUSED_MS = 10_000
const AWAY_MS = 2000

/** Makes what gets credentials of AWS for callers. Fails with `role_matcher_invalid`. */
export function createCallerCredentials(
  aws: AwsStsConfig,
  {
    ca,
    endpoint,
    now = Date.now,
  }: { ca: string | undefined; endpoint: string | undefined; now?: () => number },
): (of: { token: string; claims: Readonly<Record<string, unknown>> }) => Result | Promise<Result> {
  const chooseRole = createChooseRole(aws)
  const kept = createKeptOutcomes<Credentials, CredentialsProblem>({ ...LIMITS, now })

  async function ask(token: string, claims: Readonly<Record<string, unknown>>): Promise<Result> {
    const refused = (problem: CredentialsProblem): Result => ({
      problem,
      until: now() + (problem.kind === 'away' ? AWAY_MS : REFUSED_MS),
    })
    const role = chooseRole(claims)
    if (role === undefined) return refused({ kind: 'role' })
    const sessionName = sessionNameOf(claims, aws.session_name_claim || undefined)
    if (sessionName === undefined) return refused({ kind: 'session' })
    const result = await assumeRole({
      endpoint: endpoint ?? stsEndpoint(aws.region ?? ''),
      isNamed: endpoint !== undefined,
      role,
      sessionName,
      seconds: aws.session_duration || DEFAULT_SECONDS,
      token,
      ca,
    })
    if ('kind' in result) return refused(result)
    const life = result.expiresAt - now()
    if (life <= 0) return refused({ kind: 'away', problem: 'its credentials are over already' })
    return { value: result, until: now() + Math.max(life - MARGIN_MS, life / 2) }
  }

  return ({ token, claims }) =>
    // The claims of a token that is not a JWT may change.
    kept.get(`${JSON.stringify(claims)}\n${token}`, () => ask(token, claims)) ?? {
      problem: { kind: 'away', problem: 'too many calls to STS run at once' },
      until: 0,
    }
}
