import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CallerAuth } from '../contracts/caller-auth.ts'
import type { Callers } from './callers.ts'
import { httpFailures } from './failures.ts'
import type { SiteGuard } from './guard-sites.ts'
import { callerOf, createRateLimit } from './rate-limit.ts'

/**
 * The most requests that are handled at a time. Further ones are refused, since each may hold a body and
 * start work.
 */
const MOST_AT_A_TIME = 512

export interface AdmissionOptions {
  /** Throws for requests that get no response of an operation. */
  readonly guard: SiteGuard
  /** Requests of one caller; 0: any number. */
  readonly perSecond: number
  /** Where callers log in; absent when no login is required. */
  readonly auth?: CallerAuth | undefined
  /** Checks callers where no login is required; absent when every caller is accepted. */
  readonly callers?: Callers | undefined
  /** How many requests are being handled. */
  readonly running: () => number
  /** Whether everybody may use the operation. */
  readonly isOpen: (request: FastifyRequest) => boolean
}

/** Makes the check of every request, in this order: guard, caller, rate, load, login. It throws, or sends a refusal. */
export function createAdmission(options: AdmissionOptions) {
  const { guard, perSecond, auth, callers, running, isOpen } = options
  const limit = createRateLimit({ perSecond, now: Date.now })

  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    guard(request.raw)
    const problem = callers?.problemOf(request.raw)
    if (problem === 'stranger') throw httpFailures.caller_refused()
    if (problem === 'token' && !isOpen(request)) {
      reply.header('www-authenticate', 'Keelson-Caller-Token')
      throw httpFailures.caller_token_missing()
    }
    const seconds = limit.take(callerOf(request.socket.remoteAddress))
    if (seconds !== undefined) {
      reply.header('retry-after', String(seconds))
      throw httpFailures.rate_exceeded({ perSecond })
    }
    if (running() >= MOST_AT_A_TIME) {
      reply.header('retry-after', '1')
      throw httpFailures.too_many_requests()
    }
    if (!auth || isOpen(request)) return
    const { headersDistinct, headers } = request.raw
    const admission = await auth.admit(headersDistinct.authorization?.join(', '), headers.host)
    if ('refusal' in admission) {
      const { refusal } = admission
      await reply.code(refusal.status).headers(refusal.headers).send(Buffer.from(refusal.body))
    }
  }
}
