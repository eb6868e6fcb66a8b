import { duplexPair } from 'node:stream'
import { Agent, buildConnector } from 'undici'
import type { Caller } from '../../../src/contracts/caller-auth.ts'
import type { Proxies } from '../../../src/contracts/pipeline.ts'
import type { Members } from '../members/members.ts'

/**
 * Connections to the servers of an endpoint for requests of one caller: within this process where it has their proxies,
 * and over HTTP to others, which see the user of this machine.
 *
 * @param options.caller undefined: the user of this machine
 */
export function createMemberAgent(options: {
  members: Pick<Members, 'current'>
  proxies: Pick<Proxies, 'find'>
  caller: () => Caller | undefined
}): Agent {
  const { members, proxies, caller } = options
  const connectByHttp = buildConnector({ allowH2: false })
  return new Agent({
    // Calls of tools and event streams last as long as they last.
    ...{ allowH2: false, headersTimeout: 0, bodyTimeout: 0 },
    connect(target, callback) {
      const { host } = target
      const member = members.current.find(({ url }) => new URL(url).host === host)
      const proxy = member && proxies.find(member.name)
      if (!proxy) return connectByHttp(target, callback)
      const [near, far] = duplexPair()
      far.once('close', () => near.destroy())
      near.once('close', () => far.destroy())
      proxy.accept(far, caller)
      // Not at once: undici would still be busy with the request that it connects for.
      queueMicrotask(() => callback(null, near as Parameters<typeof callback>[1] & typeof near))
    },
  })
}
