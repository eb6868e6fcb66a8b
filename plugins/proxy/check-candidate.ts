import type { JsonRpcResponse } from '../../src/net/json-rpc.ts'
import { NO_HANDSHAKE } from '../../src/net/rpc-error-codes.ts'
import { failures } from './failures.ts'
import { INITIALIZE_2025, META_2026, revision20251125, revision20260728 } from './revisions/index.ts'

/** Sends requests to a server that does not serve clients yet. One implementation per transport. */
export interface ProbeClient {
  /** The response; `credentials` when the server asks for a login (401, 403). Fails when no response comes. */
  ask(method: string, paramsText: string, version: string): Promise<JsonRpcResponse | 'credentials'>
  /** Sends a notification. */
  notify(method: string): Promise<void>
  close(): Promise<void>
}

const OWN_INITIALIZE = JSON.stringify(INITIALIZE_2025)

/** What a server said at the beginning of a session. */
export interface Greeting {
  readonly kind: 'initialized' | 'modern'
  readonly offersTools: boolean
  /** The version of the requests that follow. */
  readonly version: string
  /** Goes into the parameters of each of them. */
  readonly params: object
}

type ResultOf = (method: string, response: JsonRpcResponse) => unknown

/**
 * Sends `initialize` to a server, or `server/discover` of 2026-07-28 to one that has no `initialize`. Undefined when
 * the server asks for a login. Fails with what `resultOf` throws for an error.
 */
export async function greet(
  client: ProbeClient,
  {
    stateless,
    resultOf,
    initialize = OWN_INITIALIZE,
  }: { stateless: boolean; resultOf: ResultOf; initialize?: string },
): Promise<Greeting | undefined> {
  if (!stateless) {
    const { version } = revision20251125
    const first = await client.ask('initialize', initialize, version)
    if (first === 'credentials') return undefined
    if (!NO_HANDSHAKE.has(Number(first.error?.code))) {
      const result = resultOf('initialize', first)
      await client.notify('notifications/initialized')
      return { kind: 'initialized', offersTools: offersTools(result), version, params: {} }
    }
  }
  const { version } = revision20260728
  const first = await client.ask('server/discover', JSON.stringify(META_2026), version)
  if (first === 'credentials') return undefined
  const result = resultOf('server/discover', first)
  return { kind: 'modern', offersTools: offersTools(result), version, params: META_2026 }
}

/** Makes a function that returns the result of a response, and throws what `failed` makes of an error. */
export const createResultOf =
  (failed: (problem: string) => Error): ResultOf =>
  (method, { result, error }) => {
    if (error === undefined) return result
    const text = String(error?.message ?? '').slice(0, 300)
    throw failed(`returned an error for ${method}${text ? `: ${text}` : ''}`)
  }

/** `unknown`: the server asks for a login. */
export type GreetedAs = Greeting['kind'] | 'unknown'

/** Greets a server and, if it announces tools, sends `tools/list`. Fails with `candidate_failed`. */
export async function checkCandidate(
  name: string,
  client: ProbeClient,
  { stateless = false, ...rest }: { stateless?: boolean; initialize?: string },
): Promise<GreetedAs> {
  const resultOf = createResultOf(problem => failures.candidate_failed({ name, problem }))
  const greeting = await greet(client, { stateless, resultOf, ...rest })
  // Its tools are shown only to callers with credentials.
  if (!greeting) return 'unknown'
  if (greeting.offersTools) {
    const response = await client.ask('tools/list', JSON.stringify(greeting.params), greeting.version)
    if (response !== 'credentials') resultOf('tools/list', response)
  }
  return greeting.kind
}

const offersTools = (result: unknown): boolean =>
  typeof result === 'object' &&
  result !== null &&
  'capabilities' in result &&
  typeof result.capabilities === 'object' &&
  result.capabilities !== null &&
  'tools' in result.capabilities
