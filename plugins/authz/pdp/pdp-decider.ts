import { Agent, request } from 'undici'
import type { Caller } from '../../../src/contracts/caller-auth.ts'
import type { Decision } from '../../../src/contracts/pipeline.ts'
import { messageOf } from '../../../src/errors.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import { parseObject } from '../../../src/lib/parse-object.ts'
import { repeatedMember } from '../../../src/lib/raw-json.ts'
import type { Log } from '../../../src/log.ts'
import type { PdpConfig } from '../authz-config.ts'
import { type Decider, OPERATIONS, type Use } from '../decider.ts'
import { createQuestionSlots } from './question-slots.ts'
import { toPdpPrincipal } from './to-principal.ts'

const TIMEOUT_SECONDS = 30
const MOST_BYTES = 64 * 1024
/** Questions that are open at the same time, each with a connection, and those that wait for one of these to end. */
const MOST_OPEN = 32
const MOST_WAITING = 256
/** Questions about one list that are open, or wait, at the same time. */
const MOST_AT_ONCE = 16

/** Asks a decision point over HTTP. Only `{"allow": true}` with status 200 allows; nothing is kept. */
export function createPdpDecider(config: PdpConfig, { server, log }: { server: string; log: Log }): Decider {
  const { url, timeout, insecure_skip_verify } = config.http
  const timeoutMs = (timeout || TIMEOUT_SECONDS) * 1000
  const endpoint = `${url.replace(/\/+$/, '')}/decision`
  const agent = new Agent({ connections: MOST_OPEN, connect: { rejectUnauthorized: !insecure_skip_verify } })

  const slots = createQuestionSlots({ open: MOST_OPEN, waiting: MOST_WAITING })

  async function ask(caller: Caller, use: Use, signal: AbortSignal): Promise<boolean> {
    const { statusCode, body } = await request(endpoint, {
      dispatcher: agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(toQuestion(config, server, { caller, use })),
      signal,
    })
    if (statusCode !== 200) {
      await body.dump({ limit: MOST_BYTES, signal })
      throw new Error(`it responds with status ${statusCode}`)
    }
    const answer = await readText(body)
    const decision = parseObject(answer)
    if (!decision || repeatedMember(Buffer.from(answer).toString('latin1')) !== undefined) {
      throw new Error('its response is not a JSON object')
    }
    if (typeof decision.allow !== 'boolean') throw new Error('its response has no member "allow"')
    return decision.allow
  }

  const askInTurn = (caller: Caller, use: Use, signal: AbortSignal) =>
    slots.run(signal, () => ask(caller, use, signal))

  function note(error: unknown, gone: AbortSignal): void {
    if (gone.aborted) return
    log.warn('the decision point could not be asked', { url: endpoint, problem: messageOf(error) })
  }

  return {
    readsHints: () => true,
    async decide(caller, use, { signal: gone }): Promise<Decision> {
      const signal = AbortSignal.any([gone, AbortSignal.timeout(timeoutMs)])
      try {
        return { isAllowed: await askInTurn(caller, use, signal), policies: ['pdp'] }
      } catch (error) {
        note(error, gone)
        const reason = `the decision point could not be asked: ${messageOf(error)}`
        return { isAllowed: false, policies: ['pdp'], reason }
      }
    },
    async decideAll(caller, uses, { signal: gone }) {
      const allowed = uses.map(() => false)
      const failed = new AbortController()
      const signal = AbortSignal.any([gone, failed.signal, AbortSignal.timeout(timeoutMs)])
      let next = 0
      async function work(): Promise<void> {
        for (let index = next++; index < uses.length; index = next++) {
          allowed[index] = await askInTurn(caller, uses[index] as Use, signal)
        }
      }
      try {
        await Promise.all(Array.from({ length: MOST_AT_ONCE }, work))
      } catch (error) {
        failed.abort()
        note(error, gone)
        return uses.map(() => false)
      }
      return allowed
    },
    close() {
      void agent.close()
    },
  }
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > MOST_BYTES) throw new Error(`its response is longer than ${MOST_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The question about one use, as ToolHive asks it. */
function toQuestion(
  { claim_mapping, context }: PdpConfig,
  server: string,
  { caller, use }: { caller: Caller; use: Use },
): object {
  const { feature, id, hints } = use
  const operation = OPERATIONS[feature]
  const annotations = hints && Object.keys(hints).length ? { annotations: hints } : {}
  const mcp = {
    ...(context?.include_operation ? { feature, operation, resource_id: id } : {}),
    ...(context?.include_args && isObject(use.arguments) ? { args: use.arguments } : {}),
    ...annotations,
  }
  return {
    principal: toPdpPrincipal(caller, claim_mapping),
    operation: `mcp:${feature}:${operation}`,
    resource: `mrn:mcp:${server}:${feature}:${id}`,
    context: { mcp },
  }
}
