import type { Proxies } from '../../src/contracts/pipeline.ts'
import type { Plugin } from '../../src/plugin.ts'
import { proxySection } from './section.ts'

export { clientUrl } from '../../src/client-url.ts'
export { assertPortFree } from './assert-port-free.ts'
export { clientAddressOf } from './client-address.ts'
export { resolveHost } from './flags.ts'
export { isProxyHeader } from './headers.ts'
export { isOverSse } from './http-sse.ts'
export { sendOwnResponse } from './own-response.ts'
export { refuseToken } from './refuse-token.ts'
export { refuseUnavailable } from './refuse-unavailable.ts'
export { hasBody } from './request-body.ts'
export { rpcRefusal } from './request-refusal.ts'
export {
  DEFAULT_SESSION_TTL_MS,
  effectiveMode,
  isSaidStateless,
  saidProtocol,
  sessionTtlOf,
} from './section.ts'

/** Listens for clients of a workload and carries what they say to its server. */
const proxy: Plugin = {
  name: 'proxy',
  needs: ['callers'],
  uses: ['callerToken'],
  services: {
    proxies: async app => (await import('./service.ts')).createProxies(app),
  },
  provides: { sections: [proxySection] },
}
export default proxy

declare module '../../src/plugin.ts' {
  interface Services {
    proxies: Proxies
  }
}
