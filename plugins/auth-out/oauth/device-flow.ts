import { setTimeout as delay } from 'node:timers/promises'
import {
  type DeviceAuthorizationResponse,
  initiateDeviceAuthorization,
  pollDeviceAuthorizationGrant,
} from 'openid-client'
import { failures } from '../failures.ts'
import { DEVICE_GRANT } from './client-metadata.ts'
import { openSession, resourceParameter, type Session } from './configuration.ts'
import { readDeviceStep } from './device-step.ts'
import { toOAuthProblem } from './oauth-problem.ts'
import { toFailure } from './to-failure.ts'
import { toTokenSet } from './token-set.ts'
import type { ClientIdentity, Discovery, LoginRequest, LoginResult, Reach, ServerMetadata } from './types.ts'

/** RFC 8628 section 3.2 where the server does not say, and the most and least we believe. */
const INTERVAL = { usual: 5, least: 1, most: 60 }

export const hasDeviceFlow = ({
  device_authorization_endpoint: endpoint,
  grant_types_supported: grants,
}: ServerMetadata): boolean =>
  endpoint !== undefined && (grants === undefined || grants.includes(DEVICE_GRANT))

/**
 * Logs in on another device (RFC 8628): the person types a code there. Lost connections while waiting are tried again
 * (section 3.5).
 */
export async function loginByDevice(
  request: LoginRequest & { readonly scopes: readonly string[]; readonly client: ClientIdentity },
  reach: Reach,
  clock: () => number,
): Promise<LoginResult> {
  const { discovery, scopes, client, person, waitMs } = request
  const { issuer } = discovery
  const late = AbortSignal.timeout(waitMs)
  const signal = reach.signal ? AbortSignal.any([late, reach.signal]) : late
  try {
    const session = await openSession(request, { ...reach, signal })
    const scope: Record<string, string> = scopes.length ? { scope: scopes.join(' ') } : {}
    const started = await initiateDeviceAuthorization(session.config, {
      ...scope,
      ...resourceParameter(discovery),
    })
    const step = await readDeviceStep(started, discovery, clock)
    await person.show(step)
    const response = await poll(session, { ...started, interval: intervalOf(started) }, discovery, signal)
    return { tokens: toTokenSet(response, { clock, scopes, idToken: session.idToken() }), client }
  } catch (error) {
    if (reach.signal?.aborted) throw reach.signal.reason
    if (!late.aborted) throw toFailure(error, issuer)
    throw failures.remote_login_timeout({ issuer, seconds: Math.round(waitMs / 1000) })
  }
}

const intervalOf = ({ interval = INTERVAL.usual }: DeviceAuthorizationResponse): number =>
  Math.min(Math.max(interval, INTERVAL.least), INTERVAL.most)

async function poll(
  { config }: Session,
  started: DeviceAuthorizationResponse,
  discovery: Discovery,
  signal: AbortSignal,
): ReturnType<typeof pollDeviceAuthorizationGrant> {
  for (;;) {
    try {
      return await pollDeviceAuthorizationGrant(
        config,
        started,
        { ...resourceParameter(discovery) },
        { signal },
      )
    } catch (error) {
      signal.throwIfAborted()
      if (toOAuthProblem(error)?.kind !== 'unreachable') throw error
      await delay((started.interval ?? INTERVAL.usual) * 1000, undefined, { signal })
    }
  }
}
