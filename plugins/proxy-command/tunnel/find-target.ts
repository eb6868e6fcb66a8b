import type { App } from '../../../src/app.ts'
import type { Middleware, MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import { CALLER_TOKEN_HEADER } from '../../../src/http/caller-token-header.ts'
import { findWorkload } from '../stdio/workload-address.ts'

/** What a tunnel leads to. */
export interface TunnelTarget {
  readonly url: string
  readonly isWorkload: boolean
  /** What requests to it need besides. */
  readonly middlewares: readonly MiddlewareFactory[]
}

/** The target that the user named: a URL, or a workload that runs. Fails as `findWorkload` does. */
export async function findTunnelTarget(app: App, name: string, signal: AbortSignal): Promise<TunnelTarget> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(name)) return { url: name, isWorkload: false, middlewares: [] }
  const workloads = await app.service('workloads')
  const { url } = await findWorkload({ name, get: workload => workloads.get(workload), signal })
  url.hash = ''
  return { url: url.href, isWorkload: true, middlewares: [async () => createCallerTokenHeader(app)] }
}

/** The workload's proxy asks for the token that the tunnel's own proxy has asked for already. */
const createCallerTokenHeader = (app: App): Middleware => ({
  name: 'caller-token',
  stage: 'credentials',
  wrap: next => async exchange => {
    const token = await (await app.service('callerToken')).required()
    if (token !== undefined) exchange.setHeader(CALLER_TOKEN_HEADER, token)
    await next(exchange)
  },
})
