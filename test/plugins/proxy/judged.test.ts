import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasBody } from '../../../plugins/proxy/request-body.ts'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import { auditFactories, temporaryFolder } from '../audit/audited-proxy.ts'
import { anyChain, type Chain, chainWebhooks, configOf, firstChains, middlewaresOf } from './judged-chains.ts'
import { type ClientRequest, kinds, oneOfEachKind, send } from './judged-messages.ts'
import { httpRecorder, judged, stdioRecorder, withoutId } from './judged-servers.ts'
import { type TestProxy, testProxy } from './test-proxy.ts'

/** What the stage `authorize` has seen of one chain, and how often somebody could not change it later. */
interface Seen {
  readonly requests: string[]
  /** Bodies as raw text. */
  readonly bodies: string[]
  refusedChanges: number
}

const recorder =
  (seen: Seen, { parses }: Chain): MiddlewareFactory =>
  async () => ({
    name: 'recorder',
    stage: 'authorize',
    wrap: next => async exchange => {
      const isFull = hasBody(exchange.request)
      if (parses && isFull) await exchange.message()
      seen.requests.push(await judged(exchange, isFull))
      if (isFull) seen.bodies.push((await exchange.body()).toString('latin1'))
      return next(exchange)
    },
  })

/** Where a client sends its messages, once it has begun a session; undefined where the chain did not let it. */
async function beginSession(
  proxy: TestProxy,
  { backend }: Chain,
): Promise<{ url: string; headers: Record<string, string>; end(): void } | undefined> {
  const over = new AbortController()
  const at = (path: string, headers = {}) => ({
    url: `${proxy.origin}${path}`,
    headers,
    end: () => over.abort(),
  })
  if (backend.endsWith('+sse')) {
    const response = await fetch(`${proxy.origin}/sse`, { signal: over.signal })
    const reader = response.body?.getReader()
    let text = ''
    for (;;) {
      const { value, done } = (await reader?.read()) ?? { done: true }
      text += new TextDecoder().decode(value)
      const [, path] = /data: (\S+)\n/.exec(text) ?? []
      if (path) return at(new URL(path, proxy.origin).href.slice(proxy.origin.length))
      if (done) return undefined
    }
  }
  if (backend === 'http') return at('/mcp')
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } }
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }))
  const headers = { 'content-type': 'application/json' }
  const begin = { kind: 'plain', method: 'POST', query: '', headers, body } as const
  const session = (await send(`${proxy.origin}/mcp`, begin)).headers['mcp-session-id']
  return typeof session === 'string' ? at('/mcp', { 'mcp-session-id': session }) : undefined
}

test('a server receives only what the stage that judges has seen, in that very form', async () => {
  const server = await httpRecorder()
  const folder = await temporaryFolder()
  const webhooks = await chainWebhooks()
  const count = {
    sent: new Map<string, number>(),
    received: new Map<string, number>(),
    refusedChanges: 0,
    deletes: 0,
  }
  const add = (counts: Map<string, number>, key: string, more: number) =>
    counts.set(key, (counts.get(key) ?? 0) + more)

  async function run(chain: Chain, requests: readonly ClientRequest[]): Promise<void> {
    const seen: Seen = { requests: [], bodies: [], refusedChanges: 0 }
    const isStdio = chain.backend.startsWith('stdio')
    const stdio = stdioRecorder()
    const before = server.received.length
    const proxy = await testProxy({
      ...(isStdio ? {} : { target: server.origin }),
      config: {
        ...configOf(chain, folder, webhooks),
        ...(isStdio ? { transport: 'stdio' } : {}),
        ...(chain.backend === 'http+sse' ? { transport: 'sse' } : {}),
        ...(chain.backend === 'stdio+sse' ? { proxy_mode: 'sse' } : {}),
      },
      middlewares: [
        ...auditFactories(folder),
        ...middlewaresOf(chain, () => count.refusedChanges++),
        recorder(seen, chain),
      ],
    })
    if (isStdio) await proxy.connect({ kind: 'stdio', attachment: stdio.attachment })
    const session = await beginSession(proxy, chain)
    for (const request of session ? requests : []) {
      const url = `${session?.url}${session?.url.includes('?') ? request.query.replace('?', '&') : request.query}`
      await send(url, { ...request, headers: { ...session?.headers, ...request.headers } })
      add(count.sent, request.kind, 1)
    }
    session?.end()
    await proxy.close({ graceMs: 0 })

    const received = isStdio
      ? stdio.received.filter(line => line.includes('"tools/call"'))
      : server.received.slice(before)
    add(count.received, chain.backend, received.length)
    const known = isStdio ? seen.bodies.map(withoutId) : seen.requests
    const isKnown = (one: string): boolean =>
      isStdio
        ? known.some(body => body === withoutId(one) || (body.startsWith('[') && body.includes(one)))
        : known.includes(one)
    expect(received.filter(one => !isKnown(one))).toEqual([])

    // However it is written, and whoever has put it there.
    const deletes = seen.bodies.filter(body => /"delete_all"/i.test(body.replaceAll('\0', '')))
    if (chain.policies) expect(deletes).toEqual([])
    else if (chain.webhooks) count.deletes += deletes.length
  }

  const [firstRequests = []] = fc.sample(oneOfEachKind, { numRuns: 1, seed: 1 })
  await fc.assert(fc.asyncProperty(anyChain, oneOfEachKind, run), {
    numRuns: 15,
    endOnFailure: true,
    examples: firstChains.map((chain): [Chain, ClientRequest[]] => [chain, firstRequests]),
  })

  expect([...count.sent.keys()].toSorted()).toEqual(kinds.toSorted())
  for (const backend of ['http', 'http+sse', 'stdio', 'stdio+sse']) {
    expect([backend, (count.received.get(backend) ?? 0) > 5]).toEqual([backend, true])
  }
  expect(count.refusedChanges).toBeGreaterThan(20)
  expect(count.deletes).toBeGreaterThan(5)
  expect(webhooks.validating.asked.some(({ said }) => said.mcp_request.params?.by_webhook === 1)).toBe(true)
})
