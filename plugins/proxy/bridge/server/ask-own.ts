import { parseRaw, toRaw } from '../../../../src/lib/raw-json.ts'
import type { AskOwn } from '../../own/list-tools.ts'
import { META_2026 } from '../../revisions/index.ts'
import type { AskServer } from './ask-server.ts'
import type { Handshake } from './handshake.ts'
import type { ServerEras } from './server-eras.ts'

/** Sends requests of the proxy itself to a stdio server, which needs no session for them. */
export const createAskOwn =
  ({ handshake, eras, ask }: { handshake: Handshake; eras: ServerEras; ask: AskServer }): AskOwn =>
  async (method, params) => {
    if (!handshake.agreed && eras.legacy !== false) await handshake.ensure()
    return handshake.agreed ? askFor(ask, method, params) : createAskModern(ask)(method, params)
  }

/** The same to a server of 2026-07-28, which need not have `initialize`. */
export const createAskModern =
  (ask: AskServer): AskOwn =>
  (method, params) =>
    askFor(ask, method, { ...META_2026, ...params })

async function askFor(ask: AskServer, method: string, params: object): Promise<unknown> {
  const answer = await ask(method, toRaw(JSON.stringify(params)), { timeoutMs: TIMEOUT_MS })
  if (answer.kind === 'result') return parseRaw(answer.text)
  throw new Error(answer.kind === 'failed' ? 'it does not respond' : `it returned an error for ${method}`)
}

const TIMEOUT_MS = 10_000
