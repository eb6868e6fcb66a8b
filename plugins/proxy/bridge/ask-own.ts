import { parseRaw, toRaw } from '../../../src/lib/raw-json.ts'
import type { AskOwn } from '../own/list-tools.ts'
import { META_2026 } from '../revisions/index.ts'
import type { AskServer } from './ask-server.ts'
import type { Handshake } from './handshake.ts'
import type { ServerEras } from './server-eras.ts'

/** Sends requests of the proxy itself to a stdio server, which needs no session for them. */
export const createAskOwn =
  ({ handshake, eras, ask }: { handshake: Handshake; eras: ServerEras; ask: AskServer }): AskOwn =>
  async (method, params) => {
    if (!handshake.agreed && eras.legacy !== false) await handshake.ensure()
    const meta = handshake.agreed ? {} : META_2026
    const answer = await ask(method, toRaw(JSON.stringify({ ...meta, ...params })), { timeoutMs: TIMEOUT_MS })
    if (answer.kind === 'result') return parseRaw(answer.text)
    throw new Error(answer.kind === 'failed' ? 'it does not respond' : `it returned an error for ${method}`)
  }

const TIMEOUT_MS = 10_000
