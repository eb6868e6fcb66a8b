import { describe, expect, test } from 'vitest'
import { createEndpointRewriter } from '../../../plugins/proxy/backends/endpoint-event.ts'
import { testProxy, testServer } from './test-proxy.ts'

function rewrite(chunks: string[], map = (url: string) => `<${url}>`): string {
  const rewriter = createEndpointRewriter(map)
  const parts = chunks.map(chunk => rewriter(Buffer.from(chunk)))
  return Buffer.concat([...parts, rewriter(undefined)]).toString()
}

describe('the rewriter', () => {
  test.each([
    ['in one piece', ['event: endpoint\ndata: /m?s=1\n\n']],
    ['byte by byte', [...'event: endpoint\ndata: /m?s=1\n\n']],
  ])('changes the endpoint %s', (_how, chunks) => {
    expect(rewrite(chunks)).toBe('event: endpoint\ndata: </m?s=1>\n\n')
  })

  test('keeps line ends, comments, ids and everything after it', () => {
    const rest =
      'event: message\r\ndata: {"x":"event: endpoint"}\r\n\r\nevent: endpoint\r\ndata: again\r\n\r\n'
    expect(rewrite([`: hi\r\n\r\nevent: endpoint\r\nid: 4\r\ndata: /m\r\n\r\n${rest}`])).toBe(
      `: hi\r\n\r\nevent: endpoint\r\nid: 4\r\ndata: </m>\r\n\r\n${rest}`,
    )
  })

  test('leaves streams without one alone, whole UTF-8 included', () => {
    const text = 'data: é→\n\ndata: half'
    expect(rewrite([...text].map(String))).toBe(text)
  })

  test('does not hold back more than it must', () => {
    const huge = `data: ${'x'.repeat(100_000)}`
    const rewriter = createEndpointRewriter(url => url)
    expect(rewriter(Buffer.from(huge)).length).toBe(huge.length)
  })
})

/** The endpoint that a client is told, when the server announces `announced`. */
async function announced(
  endpoint: (origin: string) => string,
  config = {},
  headers: Record<string, string> = {},
) {
  const target: string = await testServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`event: endpoint\ndata: ${endpoint(target)}\n\n`)
  })
  const proxy = await testProxy({ target, config: { transport: 'sse', ...config } })
  const answer = await fetch(`${proxy.origin}/sse`, { headers })
  const reader = answer.body?.getReader()
  const text = new TextDecoder().decode((await reader?.read())?.value)
  await reader?.cancel()
  return /data: (.*)\n/.exec(text)?.[1]
}

describe('what clients are told', () => {
  test('a relative endpoint stays as it is', async () => {
    expect(await announced(() => '/messages?s=1')).toBe('/messages?s=1')
  })

  test('an absolute one that names the server leads to the proxy', async () => {
    expect(await announced(origin => `${origin}/messages?s=1`)).toBe('/messages?s=1')
  })

  test('one elsewhere is not ours to change', async () => {
    expect(await announced(() => 'https://other.example/m')).toBe('https://other.example/m')
  })

  test('endpoint_prefix goes first, before trusted headers', async () => {
    const config = { endpoint_prefix: '/tools/a/', trust_proxy_headers: true }
    expect(await announced(() => '/messages?s=1', config, { 'x-forwarded-prefix': '/other' })).toBe(
      '/tools/a/messages?s=1',
    )
  })

  test('trusted headers name host, scheme and prefix', async () => {
    const headers = {
      'x-forwarded-host': 'tools.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-port': '8443',
      'x-forwarded-prefix': '/a/sse',
    }
    const config = { trust_proxy_headers: true, allowed_origins: ['https://tools.example:8443'] }
    expect(await announced(() => '/messages?s=1', config, headers)).toBe(
      'https://tools.example:8443/a/messages?s=1',
    )
  })

  test('headers that are not trusted are ignored', async () => {
    const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-prefix': '/evil' }
    expect(await announced(() => '/messages?s=1', {}, headers)).toBe('/messages?s=1')
  })
})
