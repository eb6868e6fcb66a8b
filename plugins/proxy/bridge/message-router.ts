import type { Candidate } from '../../../src/contracts/pipeline.ts'
import type { Attachment } from '../../../src/contracts/runtime.ts'
import type { Log } from '../../../src/log.ts'
import { untilDrained } from '../backends/until-drained.ts'
import { createAskServer } from './ask-server.ts'
import type { Limits } from './bridge-limits.ts'
import { createStdioCandidate, type StdioCandidate } from './check-stdio-candidate.ts'
import { type ClientMessages, createClientMessages } from './client-messages.ts'
import { type Capabilities, createSessions, type Session, type Sessions } from './client-sessions.ts'
import { type Connection, createConnection } from './connection.ts'
import { createEventBudget } from './event-budget.ts'
import { idOfOversize } from './framing.ts'
import { createHandshake, type Handshake } from './handshake.ts'
import { createLogLevels } from './log-levels.ts'
import { createNoiseLog } from './noise-log.ts'
import { createOutbox } from './outbox.ts'
import { createOwners } from './owners.ts'
import { type Calls, createCalls } from './pending-calls.ts'
import { toRaw } from './raw-json.ts'
import { createServerMessages } from './server-messages.ts'
import { createServerRequests } from './server-requests.ts'
import { createSubscriptions } from './subscriptions.ts'

/** Everything between the clients' HTTP and the server's standard streams. */
export interface Core {
  readonly limits: Limits
  readonly now: () => number
  readonly log: Log
  readonly sessions: Sessions
  readonly calls: Calls
  readonly handshake: Handshake
  readonly messages: ClientMessages
  /** Why there is no server; undefined while there is one. */
  readonly problem: string | undefined
  /** Bytes the server has not read. */
  readonly queued: number
  /** Waits for a server that is down or starting again. False when that takes too long. */
  ready(signal: AbortSignal): Promise<boolean>
  /** Undefined when all places are taken. */
  openSession(options: {
    capabilities: Capabilities
    version: string
    /** Event ids, so that streams can be resumed. */
    ids: boolean
    onClosed?: () => void
  }): Session | undefined
  connect(attachment: Attachment): void
  disconnect(reason: string): void
  /** As `Proxy.checkCandidate`. */
  checkCandidate(
    attachment: Attachment,
    options: { timeoutMs: number; signal: AbortSignal },
  ): Promise<Candidate>
  close(): void
}

export function createCore(options: {
  /** Of the workload. */
  name: string
  limits: Limits
  log: Log
  ttlMs: number
  now: () => number
}): Core {
  const { name, limits, log, ttlMs, now } = options
  const noise = createNoiseLog(log, now)
  const budget = createEventBudget({
    limits,
    now,
    onLost: () => noise.report('a message was given up: its client does not fetch what waits for it'),
  })
  const waiting = new Set<(ready: boolean) => void>()
  let replaying = false
  let lastKeepAlive = now()
  let timer: NodeJS.Timeout | undefined

  /** A connection for server processes. The output of a candidate goes to its check until it is promoted. */
  function addConnection(checked?: StdioCandidate): { made: Connection; promoted(): void } {
    let candidate = checked
    const made = createConnection({
      limits,
      onLine: line => (candidate ? candidate.receive(line) : serverMessages(line, made)),
      onOversize(head, tail, bytes) {
        noise.report(`the server wrote a line of ${bytes} bytes; the limit is ${limits.maxLine}`, head)
        const call = calls.find(Number(idOfOversize(head, tail)))
        if (call?.peer === made) calls.drop(call, 'oversize')
      },
      onGone(reason, wanted) {
        log[wanted ? 'debug' : 'warn'](`the connection to the server is gone: ${reason}`)
        candidate?.ended(reason)
        calls.failAll('gone', made)
        serverRequests.clear(made)
        if (made !== connection) return
        handshake.lost()
        for (const owners of [tasks, elicitations]) owners.clear()
        taskTokens.clear()
      },
    })
    return {
      made,
      promoted() {
        candidate = undefined
      },
    }
  }
  let connection = addConnection().made
  const write = (text: string, peer = connection): boolean => {
    const written = peer.write(text)
    if (!written && peer.problem === undefined)
      noise.report('the server does not read; a message was held back')
    return written
  }

  const calls = createCalls({ limits, now, peer: () => connection, onStart: watch })
  const ask = createAskServer(calls)
  const handshake = createHandshake({ ask, write })
  const subscriptions = createSubscriptions()
  const levels = createLogLevels()
  const tasks = createOwners<string>()
  const elicitations = createOwners<string>()
  const taskTokens = new Map<number, { session: Session; token: string }>()

  const sessions = createSessions({
    limits,
    ttlMs,
    now,
    onClose(session, reason) {
      for (const same of [...session.calls.values()]) {
        for (const call of [...same]) calls.abandon(call, 'cancelled', reason)
      }
      serverRequests.drop(session)
      for (const uri of subscriptions.removeAll(session)) {
        void ask('resources/unsubscribe', toRaw(JSON.stringify({ uri })))
      }
      const level = levels.remove(session)
      if (level !== undefined) void ask('logging/setLevel', JSON.stringify({ level }))
    },
  })

  /** On the stream of the request it surely belongs to; else where the client listens; else where it will. */
  function send(session: Session, text: string): void {
    const candidates = [...calls.ofSession(session)]
    const [only] = candidates
    if (candidates.length === 1 && only?.reply.related(text)) return
    if (!session.outbox.listening && candidates.some(call => call.reply.related(text))) return
    session.outbox.send(text)
  }

  /** Where the client listens anyway; else like everything else. */
  function sendAside(session: Session, text: string): void {
    if (session.outbox.listening) session.outbox.send(text)
    else send(session, text)
  }

  const serverRequests = createServerRequests({ limits, calls, sessions, tasks, elicitations, write, send })
  const serverMessages = createServerMessages({
    calls,
    sessions,
    serverRequests,
    subscriptions,
    levels,
    tasks,
    elicitations,
    taskTokens,
    noise,
    send,
    sendAside,
  })
  const messages = createClientMessages({
    limits,
    calls,
    handshake,
    subscriptions,
    levels,
    serverRequests,
    write,
    onIgnored: what => log.debug(what),
  })

  function sweep(): void {
    const time = now()
    const keepAlive = time - lastKeepAlive >= limits.keepAliveMs
    calls.sweep({ keepAlive })
    if (keepAlive) lastKeepAlive = time
    for (const session of sessions.all()) {
      if (keepAlive) session.outbox.keepAlive()
      session.outbox.sweep()
    }
    sessions.sweep()
    budget.sweep()
    if (sessions.size === 0 && calls.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
  }

  /** Runs the sweep from now on; it stops by itself when there is nothing left to watch. */
  function watch(): void {
    timer ??= setInterval(sweep, limits.sweepMs).unref()
  }

  function endSessions(why: string): void {
    for (const session of [...sessions.all()]) sessions.close(session, why)
  }

  function release(): void {
    for (const settle of [...waiting]) settle(true)
  }

  /** What clients subscribed to, and how much they want logged. */
  function repeatWishes(): void {
    for (const uri of subscriptions.uris()) void ask('resources/subscribe', toRaw(JSON.stringify({ uri })))
    if (levels.lowest !== undefined) void ask('logging/setLevel', JSON.stringify({ level: levels.lowest }))
  }

  /** Brings a new process to where the old one was, behind the same sessions. */
  async function restore(): Promise<void> {
    replaying = true
    const restored = await handshake.replay()
    replaying = false
    if (connection.problem !== undefined) return
    if (restored) {
      repeatWishes()
    } else {
      // Nothing the sessions agreed on holds any more: 404 makes their clients initialise again.
      log.warn('the new server process refused to be initialised as the old one was; sessions end')
      endSessions('the server was started again')
    }
    release()
  }

  return {
    limits,
    now,
    log,
    sessions,
    calls,
    handshake,
    messages,
    get problem() {
      return connection.problem
    },
    get queued() {
      return connection.queued
    },
    async ready(signal) {
      if (connection.problem === undefined && !replaying) return true
      if (waiting.size >= limits.maxPending) return false
      return new Promise(resolve => {
        const settle = (ready: boolean) => {
          clearTimeout(timeout)
          signal.removeEventListener('abort', giveUp)
          waiting.delete(settle)
          resolve(ready)
        }
        const giveUp = () => settle(false)
        const timeout = setTimeout(giveUp, limits.connectWaitMs).unref()
        signal.addEventListener('abort', giveUp)
        waiting.add(settle)
      })
    },
    openSession({ ids, onClosed, ...facts }) {
      watch()
      const outbox = () => createOutbox({ budget, limits, now, ids, ...(onClosed ? { onClosed } : {}) })
      return sessions.open({ ...facts, outbox })
    },
    connect(attachment) {
      connection.open(attachment)
      if (handshake.known) void restore()
      else release()
    },
    disconnect: reason => connection.close(reason),
    async checkCandidate(attachment, { timeoutMs, signal }) {
      const candidate = createStdioCandidate(name, () => next.made)
      const next = addConnection(candidate)
      next.made.open(attachment)
      let result: string | undefined
      try {
        result = await candidate.check({ initialize: handshake.offer, timeoutMs, signal })
      } catch (error) {
        next.made.close('the candidate failed its check')
        throw error
      }
      return {
        async promote(patience) {
          const before = connection
          next.promoted()
          connection = next.made
          handshake.succeed(result)
          if (result !== undefined) repeatWishes()
          else endSessions('the new server knows no sessions')
          release()
          await untilDrained(() => calls.awaited(before) === 0, patience)
          before.close('the server was replaced')
        },
        discard: () => next.made.close('the candidate was discarded'),
      }
    },
    close() {
      for (const settle of [...waiting]) settle(false)
      connection.close('the proxy is closing')
      endSessions('the proxy is closing')
      clearInterval(timer)
    },
  }
}
