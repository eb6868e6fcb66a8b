import { Agent } from 'undici'
import type { App } from '../../src/app.ts'
import { readCaBundle } from '../../src/ca-bundle.ts'
import type { Proxies } from '../../src/contracts/pipeline.ts'
import { createCallers } from '../../src/http/callers.ts'
import { parseDuration } from '../../src/lib/duration.ts'
import { guardedLookup } from '../../src/net/guarded-lookup.ts'
import { createPeerOwners } from '../../src/net/peer-owner.ts'
import { trustedWith } from '../../src/net/trusted-with.ts'
import type {} from '../callers/index.ts'
import { createFairShare } from './fair-share.ts'
import { LISTENER_LIMITS } from './listener.ts'
import type { MiddlewareSource } from './make-middlewares.ts'
import { type OpenProxy, openProxy } from './open-proxy.ts'

/** How long a server may take until it begins to respond: tool calls may take minutes. */
const REQUEST_TIMEOUT_MS = 600_000
const CONNECT_TIMEOUT_MS = 10_000
const SWEEP_MS = 60_000
/** Long request bodies that are held at a time, of all workloads together. */
const MAX_BODY_BYTES = 256 * 1024 * 1024
const WAIT = { waitMs: 5000, maxWaiting: 2048 }

/**
 * Makes the service that opens proxies.
 *
 * All of them share one HTTP client and one timer, so that an idle proxy costs little more than its socket.
 */
export function createProxies(app: App): Proxies {
  const headersTimeoutMs = parseDuration(app.env.KEELSON_PROXY_REQUEST_TIMEOUT ?? '') || REQUEST_TIMEOUT_MS
  const options = {
    // HTTP/2 would hand us headers that have lost their order and spelling, and gains one connection nothing.
    allowH2: false,
    maxHeaderSize: LISTENER_LIMITS.maxHeaderBytes,
  }
  /** `mustBePublic`: for remote servers that strangers named; their names are judged each time they are resolved. */
  const createAgent = ({ mustBePublic = false, ca }: { mustBePublic?: boolean; ca?: string | undefined }) =>
    new Agent({
      ...options,
      connect: {
        timeout: CONNECT_TIMEOUT_MS,
        ...(mustBePublic ? { lookup: guardedLookup(false) } : {}),
        ...(ca === undefined ? {} : { ca: trustedWith(ca) }),
      },
    })
  // To load undici takes as long as the rest of a supervisor's start.
  let agent: Agent | undefined
  let publicAgent: Agent | undefined
  const sharedAgent = (mustBePublic: boolean): Agent => {
    if (mustBePublic) {
      publicAgent ??= createAgent({ mustBePublic })
      return publicAgent
    }
    agent ??= createAgent({})
    return agent
  }
  const callers = createCallers({
    owners: createPeerOwners(),
    token: async () => (await app.service('callerToken')).required(),
    log: app.log,
  })
  const bodies = createFairShare(MAX_BODY_BYTES)
  const open = new Set<OpenProxy>()
  const byName = new Map<string, OpenProxy>()
  let sweeper: NodeJS.Timeout | undefined

  return {
    find: workload => byName.get(workload),
    async open(config, options = {}) {
      const mustBePublic = config.remote_must_be_public === true
      const ca = config.remote_url ? await readCaBundle(config.svc_ca_bundle) : undefined
      const own = ca === undefined ? undefined : createAgent({ mustBePublic, ca })
      const sources = await middlewareSources(app)
      const proxy = await openProxy({
        config,
        log: options.log ?? app.log.with({ workload: config.name }),
        agent: () => own ?? sharedAgent(mustBePublic),
        headersTimeoutMs,
        middlewares: [...sources, ...(options.middlewares ?? []).map(make => ({ make, plugin: 'keelson' }))],
        onAccess: options.onAccess,
        onMiddlewares: options.onMiddlewares,
        onProtocol: options.onProtocol,
        onProcesses: options.onProcesses,
        limits: LISTENER_LIMITS,
        callers,
        bodies,
        wait: WAIT,
      })
      open.add(proxy)
      byName.set(config.name, proxy)
      sweeper ??= setInterval(() => {
        for (const one of open) one.sweep()
      }, SWEEP_MS).unref()
      return {
        ...proxy,
        get middlewares() {
          return proxy.middlewares
        },
        get access() {
          return proxy.access
        },
        get protocol() {
          return proxy.protocol
        },
        get clientProcesses() {
          return proxy.clientProcesses
        },
        async close(options) {
          await proxy.close(options)
          void own?.destroy()
          open.delete(proxy)
          if (byName.get(config.name) === proxy) byName.delete(config.name)
          if (open.size > 0) return
          clearInterval(sweeper)
          sweeper = undefined
        },
      }
    },
  }
}

/** Fails with `plugin_broken` where an added plugin cannot be loaded: what it refuses would pass without it. */
async function middlewareSources(app: App): Promise<MiddlewareSource[]> {
  const added = app.entries.filter(entry => entry.added && entry.provides?.includes('middlewares'))
  await Promise.all(added.map(entry => app.plugin(entry)))
  return (await app.contributors('middlewares')).flatMap(({ entry, contributed }) =>
    contributed.map(make => ({
      make: make(app),
      plugin: entry.name,
      isAdded: entry.added === true,
    })),
  )
}
