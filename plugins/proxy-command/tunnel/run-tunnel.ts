import { once } from 'node:events'
import type { App } from '../../../src/app.ts'
import type { CallerAuth } from '../../../src/contracts/caller-auth.ts'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Tunnel, TunnelOffer } from '../../../src/contracts/tunnel.ts'
import { findFreePort } from '../../../src/lib/ports.ts'
import { failures } from '../failures.ts'
import { authMiddlewares } from '../standalone/authenticate.ts'

const GRACE_MS = 5000

/**
 * Opens a tunnel to a proxy in this process, which forwards to the target, until the signal aborts. Fails with
 * `tunnel_ended` when the tunnel ends by itself.
 *
 * The proxy is between because requests carry the public name in `Host`, which the target refuses.
 */
export async function runTunnel(
  app: App,
  config: RunConfig,
  options: {
    tunnel: TunnelOffer
    auth: CallerAuth | undefined
    middlewares: readonly MiddlewareFactory[]
    signal: AbortSignal
    onUp: (url: string) => void
  },
): Promise<void> {
  const { signal, onUp, auth } = options
  const port = await findFreePort()
  const tunnel = await options.tunnel.open(port, { signal, log: app.log })
  try {
    const proxies = await app.service('proxies')
    const proxy = await proxies.open(withOrigins({ ...config, port }, tunnel), {
      log: app.log,
      middlewares: [...authMiddlewares(auth), ...options.middlewares],
    })
    try {
      await proxy.connect({ kind: 'http', target: new URL(config.remote_url ?? ''), remote: true })
      onUp(`${tunnel.origins[0]}${new URL(proxy.url).pathname.replace(/^\/$/, '')}`)
      const interrupted = signal.aborted ? undefined : once(signal, 'abort')
      const reason = await Promise.race([interrupted, tunnel.ended])
      if (typeof reason === 'string' && !signal.aborted) throw failures.tunnel_ended({ reason })
    } finally {
      await proxy.close({ graceMs: GRACE_MS })
    }
  } finally {
    await tunnel.close()
  }
}

/** The hosts of these origins are accepted in `Host`. */
const withOrigins = (config: RunConfig, { origins }: Tunnel): RunConfig => ({
  ...config,
  allowed_origins: [...origins, ...(config.allowed_origins ?? [])],
})
