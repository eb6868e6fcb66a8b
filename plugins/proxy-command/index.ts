import type { Plugin } from '../../src/plugin.ts'
import { ProxyTarget } from './commands/proxy.ts'
import { ProxyStdio } from './commands/proxy-stdio.ts'
import { ProxyTunnel } from './commands/proxy-tunnel.ts'

import type { StdioBridgeOptions } from './stdio/bridge-stdio.ts'

export { startProgram } from './tunnel/start-program.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    /** Carries the messages of one stdio client to a workload and back, until it closes its output or the signal aborts. */
    workloadBridge: (options: StdioBridgeOptions) => Promise<void>
  }
}

/** Proxies that a user starts: without a workload, for clients that speak only stdio, and through tunnels. */
const proxyCommand: Plugin = {
  name: 'proxy-command',
  needs: ['callers', 'proxy'],
  uses: ['callerToken', 'proxies', 'workloads'],
  wants: ['callerAuths'],
  services: { workloadBridge: async () => (await import('./stdio/bridge-stdio.ts')).bridgeStdio },
  commands: [ProxyTarget, ProxyStdio, ProxyTunnel],
}
export default proxyCommand
