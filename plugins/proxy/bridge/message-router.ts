import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { ProxyMode } from '../../../src/contracts/run-config.ts'
import { toRaw } from '../../../src/lib/raw-json.ts'
import type { Log } from '../../../src/log.ts'
import type { Availability } from '../availability.ts'
import type { ClientMetadata } from '../eras/client-metadata.ts'
import type { Refusal } from '../request-refusal.ts'
import { toSubscriber } from '../rewrite/to-subscriber.ts'
import { holderOf, type SessionOwner } from '../session-owner.ts'
import { createTaskOwners } from '../tasks/task-owners.ts'
import type { BridgeLimits } from './bridge-limits.ts'
import { type Calls, createCalls } from './calls/pending-calls.ts'
import { type ClientMessages, createClientMessages } from './clients/client-messages.ts'
import {
  type Capabilities,
  createClientSessions,
  type Session,
  type Sessions,
} from './clients/client-sessions.ts'
import { createServerFlow, type ServerFlow } from './clients/flow-control.ts'
import { createInitializeClient, type Initialized } from './clients/initialize-client.ts'
import { createLogLevels } from './clients/log-levels.ts'
import { createOwners } from './clients/owners.ts'
import { createRootChanges } from './clients/root-changes.ts'
import { createServerRequests } from './clients/server-requests.ts'
import { createSessionDelivery } from './clients/session-delivery.ts'
import { createSubscriptions } from './clients/subscriptions.ts'
import { createTaskTokens } from './clients/task-tokens.ts'
import { createEventBudget } from './http/event-budget.ts'
import { createOutbox, type Outbox } from './http/outbox.ts'
import { createLimitedLog } from './limited-log.ts'
import { createHeldListen } from './older-clients/held-listen.ts'
import { createLegacyClients } from './older-clients/legacy-clients.ts'
import { type AskServer, createAskServer } from './server/ask-server.ts'
import { createHandshake, type Handshake } from './server/handshake.ts'
import { createServerConnections } from './server/server-connections.ts'
import { createServerEras, type ServerEras } from './server/server-eras.ts'
import { createServerMessages } from './server/server-messages.ts'
import { createServerReplacement, type ServerReplacement } from './server/server-replacement.ts'
import { createSweeper } from './sweeper.ts'

/** Routes messages between the sessions of clients and the standard streams of the server. */
export interface MessageRouter {
  readonly limits: BridgeLimits
  readonly now: () => number
  readonly sessions: Sessions
  readonly calls: Calls
  readonly eras: ServerEras
  readonly handshake: Handshake
  /** Responds to `initialize`, whose parameters it takes. */
  initialize(paramsText: string): Promise<Initialized>
  readonly messages: ClientMessages
  readonly availability: Availability
  readonly server: ServerReplacement
  /** Why no server is connected; undefined while one is. */
  readonly problem: string | undefined
  /** Reads the server slower while clients are behind. */
  readonly flow: ServerFlow
  /** Bytes the server has not read. */
  readonly queued: number
  /** Whether the server has asked a client for something: sampling, elicitation, roots. */
  readonly asksClients: boolean
  /** The caller whose share of sessions and calls a request counts towards. */
  holderOf(exchange: Exchange): string
  /** As `Sessions.open`. */
  openSession(options: {
    capabilities: Capabilities
    version: string
    metadata?: ClientMetadata | undefined
    owner: SessionOwner
    holder: string
    over: ProxyMode | undefined
    onClosed?: () => void
    /** Takes what the server sends, in place of event streams. */
    outbox?: Outbox
  }): Session | undefined
  /** Sends requests of the proxy itself to the server. */
  readonly ask: AskServer
  /** Sends a notification to all sessions, and to the subscriptions that asked for it. */
  notify(text: string): void
  close(reason?: string): void
}

export interface RouterOptions {
  /** Of the workload. */
  name: string
  limits: BridgeLimits
  log: Log
  ttlMs: number
  now: () => number
  availability: Availability
  /** Whether the headers of the proxy in front are trusted to name the client's address. */
  trustsProxy?: boolean | undefined
  /** The era that the user has said the server speaks. */
  protocol: 'legacy' | 'stateless' | undefined
  /** Called when more is known of the eras that the server speaks. */
  onProtocol: () => void
  /** Called when the server process has gone, after its calls have failed. */
  onGone?: (reason: string) => void
  /** As of `createServerNotifications`. */
  hasHints?: boolean
  /** As of `createInitializeClient`. */
  challenge?: () => Refusal | undefined
  onSession?: {
    opened(session: Session): void
    closed(session: Session, reason: string): void
  }
}

/** It is long because it does nothing but make the parts of the bridge and join them. */
export function createMessageRouter(options: RouterOptions): MessageRouter {
  const { limits, log, ttlMs, now, availability } = options
  const limitedLog = createLimitedLog(log, now)
  const budget = createEventBudget({
    limits,
    now,
    onLost: () => limitedLog.warn('a message was dropped: its client does not fetch its events'),
  })
  const flow = createServerFlow({ limits, now })
  const connections = createServerConnections({
    limits,
    flow,
    log,
    limitedLog,
    onMessage: (text, peer, message) => serverMessages(text, peer, message),
    onOversize(callId, peer) {
      const call = calls.find(callId)
      if (call?.peer === peer) calls.drop(call, 'oversize')
    },
    onGone(peer, reason) {
      calls.failAll('gone', peer)
      serverRequests.clear(peer)
      if (peer !== connections.current) return
      availability.setUnavailable(reason)
      handshake.lost()
      eras.lost()
      for (const owners of [tasks, elicitations]) owners.clear()
      taskTokens.clear()
      taskOwners.clear()
      options.onGone?.(reason)
    },
  })
  const { write } = connections
  const sweeper = createSweeper({ limits, now, calls: () => calls, sessions: () => sessions, budget })
  const calls = createCalls({ limits, now, peer: () => connections.current, onStart: sweeper.start })
  const ask = createAskServer(calls)
  const eras = createServerEras({ ask, setting: options.protocol, onChange: options.onProtocol })
  const handshake = createHandshake({
    ask,
    eras,
    write,
    capabilities: () => [...sessions.all()].map(session => session.capabilities),
  })
  const rootsChanged = createRootChanges({ handshake, write })
  const subscriptions = createSubscriptions(limits)
  const levels = createLogLevels()
  const tasks = createOwners<string>()
  const elicitations = createOwners<string>()
  const taskTokens = createTaskTokens()
  const taskOwners = createTaskOwners()

  const sessions = createClientSessions({
    limits,
    ttlMs,
    now,
    onClose(session, reason) {
      for (const same of [...session.calls.values()]) {
        for (const call of [...same]) calls.abandon(call, 'cancelled', reason)
      }
      serverRequests.drop(session)
      rootsChanged(session)
      const unwatched = subscriptions.removeAll(session)
      if (session.metadata) void held.update()
      else for (const uri of unwatched) void ask('resources/unsubscribe', toRaw(JSON.stringify({ uri })))
      const level = levels.remove(session)
      if (level !== undefined) void ask('logging/setLevel', JSON.stringify({ level }))
      options.onSession?.closed(session, reason)
    },
  })
  const delivery = createSessionDelivery(calls)
  const held = createHeldListen({ limits, calls, sessions: () => sessions, subscriptions, delivery })
  const owners = { tasks, elicitations }
  const serverRequests = createServerRequests({ limits, calls, sessions, owners, write, send: delivery.send })
  const shared = { calls, subscriptions, levels, serverRequests }
  const serverMessages = createServerMessages({
    ...shared,
    sessions,
    owners,
    taskTokens,
    limitedLog,
    delivery,
    hasHints: options.hasHints ?? false,
  })
  const onIgnored = (what: string) => log.debug(what)
  const native = createClientMessages({
    ...shared,
    ...{ handshake, rootsChanged, taskOwners, write, onIgnored },
  })
  const messages = createLegacyClients({ ...shared, messages: native, held, now, write })
  const server = createServerReplacement({
    ...options,
    ...shared,
    connections,
    eras,
    handshake,
    held,
    sessions,
    ask,
  })

  return {
    limits,
    flow,
    now,
    sessions,
    calls,
    eras,
    handshake,
    initialize: createInitializeClient({ ...options, eras, handshake, held, ask }),
    messages,
    availability,
    server,
    ask,
    holderOf: exchange => holderOf(exchange, { trust_proxy_headers: options.trustsProxy === true }),
    notify(text) {
      for (const session of sessions.all()) delivery.sendStandalone(session, text)
      for (const { acknowledged: filter, idText, reply } of calls.all()) {
        const own = filter && toSubscriber(text, { filter, idText })
        if (own !== undefined) reply.related(own)
      }
    },
    get asksClients() {
      return serverRequests.hasAsked
    },
    get problem() {
      return connections.current.problem
    },
    get queued() {
      return connections.current.queued
    },
    openSession({ onClosed, outbox, ...facts }) {
      sweeper.start()
      const ids = facts.over === 'streamable-http'
      const create = () =>
        createOutbox({
          budget,
          flow: flow.of(facts.owner ?? {}),
          limits,
          now,
          ids,
          ...(onClosed ? { onClosed } : {}),
        })
      const session = sessions.open({ ...facts, outbox: outbox ? () => outbox : create })
      if (session) options.onSession?.opened(session)
      return session
    },
    close(reason = 'the proxy is closing') {
      availability.close(reason)
      connections.current.close(reason)
      for (const session of [...sessions.all()]) sessions.close(session, reason)
      sweeper.stop()
    },
  }
}
