// Proxies to the URL given, `count` of them; with `unchecked` whoever connects is answered. Prints their ports, and its memory for each line it reads.

import { Agent } from 'undici'
import { LISTENER_LIMITS } from '../plugins/proxy/listener.ts'
import { openProxy } from '../plugins/proxy/open-proxy.ts'
import { createCallers } from '../src/http/callers.ts'
import { createLog } from '../src/log.ts'
import { createPeerOwners } from '../src/net/peer-owner.ts'

const [target = '', count = '1', checks] = process.argv.slice(2)
const agent = new Agent({ allowH2: false })
const owners = checks === 'unchecked' ? undefined : createPeerOwners()
const log = createLog({ write: () => {}, human: false, debug: false })
const callers = createCallers({ owners, token: async () => undefined, log })
const ports: number[] = []
for (let i = 0; i < Number(count); i++) {
  const proxy = await openProxy({
    config: { schema_version: 'v0.1.0', name: `bench-${i}`, transport: 'streamable-http', port: 0 },
    log,
    agent: () => agent,
    middlewares: [],
    limits: LISTENER_LIMITS,
    callers,
    wait: { waitMs: 5000, maxWaiting: 2048 },
    headersTimeoutMs: 60_000,
  })
  await proxy.connect({ kind: 'http', target: new URL(target), remote: false })
  ports.push(proxy.port)
}
process.stdout.write(`${ports.join(' ')}\n`)
process.stdin.on('data', () => {
  globalThis.gc?.()
  process.stdout.write(`${process.memoryUsage().rss}\n`)
})
