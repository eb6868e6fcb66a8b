import type { Duplex } from 'node:stream'
import type { Helper, ListenAddress } from '../../../src/contracts/runtime.ts'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { createOwnAddresses } from '../../../src/net/own-addresses.ts'
import { decide } from '../decide.ts'
import type { Decision, Destination, Resolve } from '../decision.ts'
import { createDecisionLog } from '../decision-log.ts'
import { failures } from '../failures.ts'
import type { Policy } from '../policy.ts'
import { createResolver } from '../resolver.ts'
import { type Connect, connectTo } from './dial.ts'
import { EGRESS_LIMITS, type EgressLimits } from './egress-limits.ts'
import { createListenerServer } from './listener-server.ts'
import { describeAddress, startListening } from './start-listening.ts'

/** A decision about a request. */
export interface EgressEvent extends Decision {
  readonly workload: string
  /** Whether the log has a line for it; a repeated denial is only counted there. */
  readonly logged: boolean
}

export interface EgressProxyOptions {
  /** Receives denials with the workload's name, unless its listener has a log of its own. */
  readonly log: Log
  readonly resolve?: Resolve
  readonly connect?: Connect
  readonly ownAddresses?: () => ReadonlySet<string>
  /** Called for every decision, also where the log only counts. */
  readonly onDecision?: (event: EgressEvent) => void
  readonly limits?: Partial<EgressLimits>
}

export interface EgressListenerOptions {
  readonly workload: string
  readonly policy: Policy
  readonly listen: ListenAddress
  /** The only address from which connections are accepted. Absent: every connection is the workload's. */
  readonly peer?: string | undefined
  readonly log?: Log
  /** The helper to open it in, when not on this host; see `withHelpers`. */
  readonly helper?: Helper | undefined
}

/** The listener of one workload. Every connection to it belongs to that workload. */
export interface EgressListener {
  readonly workload: string
  /** Where it listens, with the actual port. */
  readonly listen: ListenAddress
  /** Replaces the policy. Resolves when connections that it no longer allows have been closed. */
  update(policy: Policy): Promise<void>
  /** Of a listener in a helper: connects to a port of the workload's instance from there. */
  connect?(host: string, port: number): Promise<Duplex>
  /** Stops listening and closes all connections. Idempotent. */
  close(): Promise<void>
}

/** One forward proxy for any number of workloads, with one listener each. */
export interface EgressProxy {
  /** Fails with `egress_listener_unusable` when it cannot listen there. */
  open(options: EgressListenerOptions): Promise<EgressListener>
  /** Closes every listener. */
  close(): Promise<void>
}

/** Makes a forward proxy: CONNECT, and plain HTTP with absolute URLs (RFC 9110, RFC 9112). */
export function createEgressProxy(options: EgressProxyOptions): EgressProxy {
  const { connect = connectTo, onDecision, ownAddresses = createOwnAddresses() } = options
  const resolve = options.resolve ?? createResolver()
  const limits = { ...EGRESS_LIMITS, ...options.limits }
  const listeners = new Set<EgressListener>()

  /** Whether the destination is a listener of this proxy, which no workload may reach through it. */
  const isOneOfUs = (address: string, port: number): boolean =>
    [...listeners].some(({ listen }) => {
      if ('path' in listen || listen.port !== port) return false
      return listen.host === address || (isWildcard(listen.host) && isMachine(address))
    })
  const isMachine = (address: string): boolean =>
    isWildcard(address) || address.startsWith('127.') || address === '::1' || ownAddresses().has(address)

  async function judge(policy: Policy, destination: Destination): Promise<Decision> {
    const resolveInTime: Resolve = name => withTimeout(resolve(name), limits.resolveMs)
    const decision = await decide(policy, destination, { resolve: resolveInTime, ownAddresses })
    const { allowed, addresses, port } = decision
    if (!allowed || !addresses.some(address => isOneOfUs(address, port))) return decision
    const { host } = decision
    return { allowed: false, rule: 'proxy_itself', reason: 'it is the egress proxy', host, port, addresses }
  }

  return {
    async open({ workload, policy, listen, peer, log = options.log.with({ workload }) }) {
      let current = policy
      const decisions = createDecisionLog({ log })
      const { server, recheck, destroy } = createListenerServer({
        workload,
        peer,
        limits,
        connect,
        async judge(destination) {
          let decision: Decision
          let used: Policy
          do {
            used = current // it may change while a name is looked up
            decision = await judge(used, destination)
          } while (used !== current)
          const logged = decisions.record(decision)
          onDecision?.({ ...decision, workload, logged })
          return decision
        },
        async recheck({ host, port, addresses }) {
          const world = { resolve: async () => addresses, ownAddresses }
          return (await decide(current, { host, port }, world)).allowed
        },
        onBadRequest: problem => log.debug('egress request refused', { problem }),
      })
      const where = await startListening(server, listen).catch(error => {
        throw failures.egress_listener_unusable(
          { workload, where: describeAddress(listen), problem: messageOf(error) },
          { cause: error },
        )
      })
      server.on('error', error => log.error('egress proxy failed to accept', { problem: messageOf(error) }))

      let told = Number.NEGATIVE_INFINITY
      server.on('drop', () => {
        if (performance.now() - told < 60_000) return
        told = performance.now()
        log.warn('egress connections beyond the limit are closed', { limit: limits.maxConnections })
      })

      let closed: Promise<void> | undefined
      const listener: EgressListener = {
        workload,
        listen: where,
        async update(next) {
          current = next
          await recheck()
        },
        close() {
          closed ??= new Promise(done => {
            listeners.delete(listener)
            decisions.close()
            server.close(() => done())
            destroy()
          })
          return closed
        },
      }
      listeners.add(listener)
      return listener
    },
    async close() {
      await Promise.all([...listeners].map(listener => listener.close()))
    },
  }
}

const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** No addresses when the look-up takes too long. */
async function withTimeout(found: Promise<readonly string[]>, ms: number): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<readonly string[]>(resolve => {
    timer = setTimeout(resolve, ms, [])
  })
  try {
    return await Promise.race([found, late])
  } finally {
    clearTimeout(timer)
  }
}
