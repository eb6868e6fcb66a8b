import type { App } from '../../src/app.ts'
import type { Exchange, Handler, MiddlewareFactory } from '../../src/contracts/pipeline.ts'
import { refuseUnavailable } from '../proxy/index.ts'
import { actsForCallers } from './credentials/acts-for-callers.ts'
import type { Authorization, AuthorizationValue } from './credentials/authorization.ts'
import { bearerTokenOf } from './credentials/bearer-token.ts'
import { resolveHeaders } from './credentials/resolve-headers.ts'
import { loginAuthorizationOf, TOKEN_REFUSED } from './logins/login-authorization.ts'
import { keepLoginIdToken } from './logins/login-id-token.ts'
import { hasOutgoingToken } from './logins/login-settings.ts'
import { plainHttpWarning } from './plain-http-warning.ts'

/** How long clients shall wait after a refusal, in seconds. */
const RETRY_SECONDS = 10

/** Puts the user's headers and credentials into requests to a remote server. */
export const credentialsMiddleware =
  (app: App): MiddlewareFactory =>
  async (config, _listener, { log, setAccess }) => {
    if (!config.remote_url) return undefined
    const warning = plainHttpWarning(config)
    if (warning && log !== app.log) log.warn(warning) // the command has said it
    const headers = await resolveHeaders(app, config)
    const isOthers =
      headers.some(([name]) => name === 'authorization') ||
      (!hasOutgoingToken(config) && (await actsForCallers(app, config)))
    const authorization = isOthers
      ? undefined
      : ((await bearerTokenOf(app, config, log)) ??
        (await loginAuthorizationOf(app, config, { log, setAccess, looksAhead: headers.length === 0 })))
    const wrap = (next: Handler): Handler => {
      const authorize = authorization && createAuthorize(authorization, setAccess)
      return exchange => {
        for (const [name, value] of headers) exchange.setHeader(name, value)
        const pending = authorize?.(exchange)
        return pending ? pending.then(() => next(exchange)) : next(exchange)
      }
    }
    return {
      name: 'credentials',
      stage: 'credentials',
      summary: describe(headers, { hasAuthorization: authorization !== undefined }),
      wrap,
      probeRefused: () => authorization?.lookAhead?.(),
      close: () => authorization?.close(),
    }
  }

/** Names only: values may be secrets. */
const describe = (
  headers: readonly (readonly [name: string, value: string])[],
  { hasAuthorization }: { hasAuthorization: boolean },
): string | undefined =>
  [
    ...(hasAuthorization ? ['login at the remote server'] : []),
    ...(headers.length ? [`headers ${headers.map(([name]) => name).join(', ')}`] : []),
  ].join('; ') || undefined

type SetAccess = Parameters<MiddlewareFactory>[2]['setAccess']

/** Sets the header of requests, and deals with responses that refuse it. */
function createAuthorize(authorization: Authorization, setAccess: SetAccess) {
  let isRefused = false

  function set(exchange: Exchange, value: AuthorizationValue): Promise<void> | undefined {
    if ('problem' in value) return refuse(exchange, value.problem.reason)
    const { header } = value
    keepLoginIdToken(exchange, value.idToken)
    if (header !== undefined) exchange.setHeader('authorization', header)
    if (header === undefined && hasOwn(exchange)) return undefined // the client's own business
    const onRefused: Exchange['onRefused'] = refusal =>
      authorization.refused(refusal, header)?.then(async found => {
        const problem = found ?? (refusal.again ? TOKEN_REFUSED : undefined)
        if (problem === undefined) return set(exchange, await authorization.value(hasOwn(exchange)))
        isRefused = true
        setAccess(problem)
        return refuse(exchange, problem.reason)
      })
    exchange.onRefused = onRefused
    return undefined
  }

  function watch({ response }: Exchange): void {
    response.once('close', () => {
      if (response.statusCode >= 400) return
      isRefused = false
      authorization.taken()
      setAccess(undefined)
    })
  }

  return (exchange: Exchange): Promise<void> | undefined => {
    if (isRefused) watch(exchange)
    const value = authorization.value(hasOwn(exchange))
    return value instanceof Promise ? value.then(found => set(exchange, found)) : set(exchange, value)
  }
}

/** Whether the client brings credentials for the server: not those that it logged in here with, which were taken out. */
const hasOwn = ({ request, ownHeaders }: Exchange): boolean =>
  ownHeaders?.has('authorization')
    ? ownHeaders.get('authorization') !== undefined
    : request.headers.authorization !== undefined

async function refuse(exchange: Exchange, reason: string): Promise<never> {
  throw await refuseUnavailable(exchange, reason, RETRY_SECONDS)
}
