import type { Plugin } from '../../src/plugin.ts'
import { ProxyTarget } from './commands/proxy.ts'
import { ProxyStdio } from './commands/proxy-stdio.ts'
import { ProxyTunnel } from './commands/proxy-tunnel.ts'

export { startProgram } from './tunnel/start-program.ts'

/** Proxies that a user starts: without a workload, for clients that speak only stdio, and through tunnels. */
const proxyCommand: Plugin = {
  name: 'proxy-command',
  needs: ['callers', 'proxy'],
  uses: ['callerToken', 'proxies', 'workloads'],
  wants: ['callerAuths'],
  commands: [ProxyTarget, ProxyStdio, ProxyTunnel],
}
export default proxyCommand
