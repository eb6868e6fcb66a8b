import type { Exchange } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { hasCallers } from '../../src/has-callers.ts'
import { type ClientInfo, clientOf } from '../../src/net/client-info.ts'
import type { JsonRpcMessage } from '../../src/net/json-rpc.ts'
import { isOverSse } from '../proxy/index.ts'
import { type CallsInFlight, createCallsInFlight } from './calls-in-flight.ts'
import type { AuditLog } from './service.ts'
import type { AuditSettings } from './settings.ts'

/** What the records of one workload share. */
export interface WorkloadAudit {
  readonly settings: AuditSettings
  readonly log: AuditLog
  /** The name of the workload. */
  readonly name: string
  /** Whether a request is one of HTTP+SSE. */
  isOverSse(exchange: Exchange): boolean
  /** Whether callers log in; else they are users of this machine. */
  readonly hasLogin: boolean
  readonly trustsForwarded: boolean
  readonly calls: CallsInFlight
  readonly clients: ReturnType<typeof createClients>
  /** The client of a message: what it says itself, else what its session has begun with. */
  client(message: JsonRpcMessage | undefined, session: string): ClientInfo | undefined
}

export function createWorkloadAudit(
  config: RunConfig,
  settings: AuditSettings,
  log: AuditLog,
): WorkloadAudit {
  const clients = createClients()
  return {
    settings,
    log,
    name: config.name,
    isOverSse: exchange => isOverSse(config, exchange),
    hasLogin: hasCallers(config),
    trustsForwarded: config.trust_proxy_headers === true,
    calls: createCallsInFlight(),
    clients,
    client: (message, session) => clientOf(message) ?? clients.of(session),
  }
}

const MOST_CLIENTS = 10_000

/** The clients of the newest sessions. */
function createClients() {
  const clients = new Map<string, ClientInfo>()
  return {
    note(session: string | undefined, message: JsonRpcMessage | undefined): void {
      const client = session === undefined ? undefined : clientOf(message)
      if (!session || !client) return
      clients.set(session, client)
      const [oldest] = clients.size > MOST_CLIENTS ? clients.keys() : []
      if (oldest !== undefined) clients.delete(oldest)
    },
    of: (session: string): ClientInfo | undefined => clients.get(session),
  }
}
