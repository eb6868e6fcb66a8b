import { once } from 'node:events'
import type { App } from '../../../src/app.ts'
import type { CallerAuth } from '../../../src/contracts/caller-auth.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import { isLoopback } from '../../../src/net/loopback.ts'
import { authMiddlewares } from './authenticate.ts'

/** How long the target may take until its first response, in milliseconds. */
const LOOK_MS = 2000
/** How long requests may take after an interrupt, in milliseconds. */
const GRACE_MS = 5000

/**
 * Serves one proxy in this process until the signal aborts. A target that does not respond yet is reported and
 * asked again with every request.
 */
export async function runProxy(
  app: App,
  config: RunConfig,
  options: { auth: CallerAuth | undefined; signal: AbortSignal; onUp: (url: string) => void },
): Promise<void> {
  const { auth, signal, onUp } = options
  const { remote_url: target = '', host = '127.0.0.1' } = config
  if (!isLoopback(host) && !auth) {
    app.log.warn(
      `Whoever reaches ${host} may use ${target} through this proxy: nobody has to log in (--oidc-issuer).`,
    )
  }
  const proxy = await open(app, config, auth)
  try {
    await proxy.connect({ kind: 'http', target: new URL(target), remote: true })
    onUp(proxy.url)
    await proxy.ready({ timeoutMs: LOOK_MS, signal }).catch(error => {
      if (!signal.aborted) app.log.warn(`${target} does not respond yet: ${messageOf(error)}`)
    })
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    await proxy.close({ graceMs: GRACE_MS })
  }
}

/** Listens at the port that was asked for; where it is busy, at a free one. */
async function open(app: App, config: RunConfig, auth: CallerAuth | undefined) {
  const proxies = await app.service('proxies')
  const options = { log: app.log, middlewares: authMiddlewares(auth) }
  try {
    return await proxies.open(config, options)
  } catch (error) {
    if (!isFailure(error, 'port_busy')) throw error
    const proxy = await proxies.open({ ...config, port: 0 }, options)
    app.log.warn(`Port ${config.port} is in use; the proxy listens on ${proxy.port} instead.`)
    return proxy
  }
}
