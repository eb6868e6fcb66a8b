import { once } from 'node:events'
import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import { hasFixedUrl } from '../../../src/has-callers.ts'
import { isLoopback } from '../../../src/net/loopback.ts'

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
  options: { signal: AbortSignal; onUp: (url: string) => void },
): Promise<void> {
  const { signal, onUp } = options
  const { remote_url: target = '', host = '127.0.0.1' } = config
  if (!isLoopback(host) && !(await (await app.find('callerAuths'))?.isRequired(config))) {
    app.log.warn(
      `Whoever reaches ${host} may use ${target} through this proxy: nobody has to log in (--oidc-issuer).`,
    )
  }
  const proxy = await open(app, config)
  try {
    await proxy.connect({ kind: 'http', target: new URL(target), remote: true })
    onUp(proxy.url)
    const responds = await proxy.ready({ timeoutMs: LOOK_MS, signal }).then(
      () => true,
      error => {
        if (!signal.aborted) app.log.warn(`${target} does not respond yet: ${messageOf(error)}`)
        return false
      },
    )
    if (responds) await proxy.verify({ signal })
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    await proxy.close({ graceMs: GRACE_MS })
  }
}

/** Listens at the port that was asked for; where it is busy, at a free one unless providers know the URL. */
async function open(app: App, config: RunConfig) {
  const proxies = await app.service('proxies')
  const options = { log: app.log }
  try {
    return await proxies.open(config, options)
  } catch (error) {
    if (!isFailure(error, 'port_busy') || hasFixedUrl(config)) throw error
    const proxy = await proxies.open({ ...config, port: 0 }, options)
    app.log.warn(`Port ${config.port} is in use; the proxy listens on ${proxy.port} instead.`)
    return proxy
  }
}
