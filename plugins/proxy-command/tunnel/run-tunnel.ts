import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { App } from '../../../src/app.ts'
import type { Proxy as McpProxy, MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Tunnel, TunnelOffer } from '../../../src/contracts/tunnel.ts'
import { failures } from '../failures.ts'

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
    middlewares: readonly MiddlewareFactory[]
    signal: AbortSignal
    onUp: (url: string) => void
  },
): Promise<void> {
  const { signal, onUp, middlewares } = options
  const held = await holdPort()
  const { port } = held
  const tunnel = await options.tunnel.open(port, { signal, log: app.log }).finally(() => held.release())
  let proxy: McpProxy | undefined
  try {
    const proxies = await app.service('proxies')
    proxy = await proxies.open(withOrigins({ ...config, port }, tunnel), {
      log: app.log,
      middlewares,
    })
    await proxy.connect({ kind: 'http', target: new URL(config.remote_url ?? ''), remote: true })
    onUp(`${tunnel.origins[0]}${new URL(proxy.url).pathname.replace(/^\/$/, '')}`)
    const interrupted = signal.aborted ? undefined : once(signal, 'abort')
    const reason = await Promise.race([interrupted, tunnel.ended])
    if (typeof reason === 'string' && !signal.aborted) throw failures.tunnel_ended({ reason })
  } finally {
    // First the tunnel: without the proxy, another program could take its port and get the requests.
    await tunnel.close()
    await proxy?.close({ graceMs: 0 })
  }
}

/** Listens at a free port until it is released, so that no other program gets the requests of the tunnel. */
async function holdPort(): Promise<{ port: number; release(): Promise<void> }> {
  const server = createServer(socket => void socket.destroy())
  server.listen({ host: '127.0.0.1', port: 0, exclusive: true })
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async release() {
      server.close()
      await once(server, 'close')
    },
  }
}

/** The hosts of these origins are accepted in `Host`. */
const withOrigins = (config: RunConfig, { origins }: Tunnel): RunConfig => ({
  ...config,
  allowed_origins: [...origins, ...(config.allowed_origins ?? [])],
})
