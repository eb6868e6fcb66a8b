import type { App } from '../../src/app.ts'
import type { Exchange, Handler, MiddlewareFactory } from '../../src/contracts/pipeline.ts'
import { refuseUnavailable } from '../proxy/index.ts'
import type { Authorization } from './credentials/authorization.ts'
import { bearerTokenOf } from './credentials/bearer-token.ts'
import { resolveHeaders } from './credentials/resolve-headers.ts'

/** How long clients shall wait after a refusal, in seconds. */
const RETRY_SECONDS = 10

/** Puts the user's headers and credentials into requests to a remote server. */
export const credentialsMiddleware =
  (app: App): MiddlewareFactory =>
  async (config, _listener, { log, setAccess }) => {
    if (!config.remote_url) return undefined
    const headers = await resolveHeaders(app, config)
    const authorization = await bearerTokenOf(app, config, log)
    if (!authorization && headers.length === 0) return undefined
    let isRefused = false

    /** Resolves when the request is to be sent again. */
    async function renew(exchange: Exchange, problem: Awaited<ReturnType<Authorization['refused']>>) {
      if (problem === undefined) return setHeader(exchange)
      isRefused = true
      setAccess(problem)
      throw await refuseUnavailable(exchange, problem.reason, RETRY_SECONDS)
    }

    function setHeader(exchange: Exchange): void | Promise<void> {
      const value = authorization?.value()
      if (value instanceof Promise) return value.then(found => set(exchange, found))
      set(exchange, value)
    }

    function watch(exchange: Exchange): void {
      exchange.onRefused = refusal =>
        authorization?.refused(refusal)?.then(problem => renew(exchange, problem))
      if (!isRefused) return
      exchange.response.once('close', () => {
        if (exchange.response.statusCode >= 400) return
        isRefused = false
        authorization?.taken()
        setAccess(undefined)
      })
    }

    const wrap =
      (next: Handler): Handler =>
      exchange => {
        for (const [name, value] of headers) exchange.setHeader(name, value)
        if (!authorization) return next(exchange)
        watch(exchange)
        const pending = setHeader(exchange)
        return pending ? pending.then(() => next(exchange)) : next(exchange)
      }
    return { name: 'credentials', stage: 'credentials', wrap, close: () => authorization?.close() }
  }

const set = (exchange: Exchange, value: string | undefined): void => {
  if (value !== undefined) exchange.setHeader('authorization', value)
}
