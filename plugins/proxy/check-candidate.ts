import type { JsonRpcResponse } from '../../src/lib/json-rpc.ts'
import { failures } from './failures.ts'
import { META_2026, revision20251125, revision20260728 } from './revisions/index.ts'

/** A short conversation with a server, to see whether it is fit. */
export interface Talk {
  /** The answer; `credentials` where the server wants to know who asks. Fails when there is none. */
  ask(method: string, paramsText: string, version: string): Promise<JsonRpcResponse | 'credentials'>
  tell(method: string): Promise<void>
  close(): Promise<void>
}

const OWN_INITIALIZE = JSON.stringify({
  protocolVersion: revision20251125.version,
  capabilities: {},
  clientInfo: { name: 'keelson', version: '1' },
})

/** UnsupportedProtocolVersion (2026-07-28), and what a server says that has no `initialize` at all. */
const NO_HANDSHAKE = new Set([-32022, -32601])

/**
 * Asks a server `initialize` (of 2026-07-28: `server/discover`) and, if it says that it has some, for its
 * tools. Fails with `successor_unfit` when one of the answers is an error.
 */
export async function checkFitness(
  name: string,
  talk: Talk,
  { stateless = false, initialize = OWN_INITIALIZE }: { stateless?: boolean; initialize?: string },
): Promise<'initialized' | 'modern' | 'unknown'> {
  const unfit = (problem: string) => failures.successor_unfit({ name, problem })

  function resultOf(method: string, { result, error }: JsonRpcResponse): unknown {
    if (error === undefined) return result
    const text = String(error?.message ?? '').slice(0, 300)
    throw unfit(`answered ${method} with an error${text ? `: ${text}` : ''}`)
  }

  async function askForTools(result: unknown, paramsText: string, version: string): Promise<void> {
    if (!offersTools(result)) return
    const answer = await talk.ask('tools/list', paramsText, version)
    if (answer !== 'credentials') resultOf('tools/list', answer)
  }

  if (!stateless) {
    const { version } = revision20251125
    const first = await talk.ask('initialize', initialize, version)
    // What it offers to those who have credentials is not ours to see.
    if (first === 'credentials') return 'unknown'
    if (!NO_HANDSHAKE.has(Number(first.error?.code))) {
      const result = resultOf('initialize', first)
      await talk.tell('notifications/initialized')
      await askForTools(result, '{}', version)
      return 'initialized'
    }
  }
  const { version } = revision20260728
  const about = JSON.stringify(META_2026)
  const first = await talk.ask('server/discover', about, version)
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
