import type { JsonRpcResponse } from '../../src/net/json-rpc.ts'
import { NO_HANDSHAKE } from '../../src/net/rpc-error-codes.ts'
import { failures } from './failures.ts'
import { META_2026, revision20251125, revision20260728 } from './revisions/index.ts'

/** Sends requests to a server that does not serve clients yet. One implementation per transport. */
export interface ProbeClient {
  /** The response; `credentials` when the server asks for a login (401, 403). Fails when no response comes. */
  ask(method: string, paramsText: string, version: string): Promise<JsonRpcResponse | 'credentials'>
  /** Sends a notification. */
  notify(method: string): Promise<void>
  close(): Promise<void>
}

const OWN_INITIALIZE = JSON.stringify({
  protocolVersion: revision20251125.version,
  capabilities: {},
  clientInfo: { name: 'keelson', version: '1' },
})

/**
 * Sends `initialize` (of 2026-07-28: `server/discover`) to a server and, if it announces tools, `tools/list`.
 * Fails with `candidate_failed` when a response is an error.
 */
export async function checkCandidate(
  name: string,
  client: ProbeClient,
  { stateless = false, initialize = OWN_INITIALIZE }: { stateless?: boolean; initialize?: string },
): Promise<'initialized' | 'modern' | 'unknown'> {
  const failed = (problem: string) => failures.candidate_failed({ name, problem })

  function resultOf(method: string, { result, error }: JsonRpcResponse): unknown {
    if (error === undefined) return result
    const text = String(error?.message ?? '').slice(0, 300)
    throw failed(`returned an error for ${method}${text ? `: ${text}` : ''}`)
  }

  async function askForTools(result: unknown, paramsText: string, version: string): Promise<void> {
    if (!offersTools(result)) return
    const answer = await client.ask('tools/list', paramsText, version)
    if (answer !== 'credentials') resultOf('tools/list', answer)
  }

  if (!stateless) {
    const { version } = revision20251125
    const first = await client.ask('initialize', initialize, version)
    // Its tools are shown only to callers with credentials.
    if (first === 'credentials') return 'unknown'
    if (!NO_HANDSHAKE.has(Number(first.error?.code))) {
      const result = resultOf('initialize', first)
      await client.notify('notifications/initialized')
      await askForTools(result, '{}', version)
      return 'initialized'
    }
  }
  const { version } = revision20260728
  const about = JSON.stringify(META_2026)
  const first = await client.ask('server/discover', about, version)
  if (first === 'credentials') return 'unknown'
  await askForTools(resultOf('server/discover', first), about, version)
  return 'modern'
}

const offersTools = (result: unknown): boolean =>
  typeof result === 'object' &&
  result !== null &&
  'capabilities' in result &&
  typeof result.capabilities === 'object' &&
  result.capabilities !== null &&
  'tools' in result.capabilities
