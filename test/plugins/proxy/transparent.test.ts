import { describe, expect, test } from 'vitest'
import { createTargetPath } from '../../../plugins/proxy/backends/target-path.ts'
import { post, rpc, testProxy, testServer } from './test-proxy.ts'

const config = { schema_version: 'v0.1.0', name: 'test', port: 0 } as const

describe('where a request goes', () => {
  test.each([
    ['http://127.0.0.1:9', '/mcp?a=1', '/mcp?a=1'],
    ['http://127.0.0.1:9', '//evil.example/x', '//evil.example/x'],
    ['http://127.0.0.1:9/base/', '/mcp', '/base/mcp'],
  ])('local %s: %s -> %s', (target, asked, sent) => {
    const paths = createTargetPath(
      new URL(target),
      { ...config, transport: 'streamable-http' },
      { remote: false },
    )
    expect(paths.pathFor(asked)).toBe(sent)
  })

  test.each([
    ['https://x.example/v1/mcp', '/v1/mcp', '/v1/mcp'],
    ['https://x.example/v1/mcp', '/mcp', '/v1/mcp'],
    ['https://x.example/v1/mcp?key=k', '/v1/mcp?a=1', '/v1/mcp?key=k&a=1'],
    ['https://x.example', '/', '/'],
    ['https://x.example/?key=k', '/mcp', '/?key=k'],
  ])('remote streamable %s: %s -> %s', (target, asked, sent) => {
    const paths = createTargetPath(
      new URL(target),
      { ...config, transport: 'streamable-http' },
      { remote: true },
    )
    expect(paths.pathFor(asked)).toBe(sent)
  })

  test.each([
    ['https://x.example/events', '/events', '/events'],
    ['https://x.example/events', '/sse', '/events'],
    ['https://x.example/events', '/messages?session=1', '/messages?session=1'],
    ['https://x.example', '/sse', '/sse'],
    ['https://x.example/sse?key=k', '/messages?key=k&s=1', '/messages?key=k&s=1'],
  ])('remote sse %s: %s -> %s', (target, asked, sent) => {
    const paths = createTargetPath(new URL(target), { ...config, transport: 'sse' }, { remote: true })
    expect(paths.pathFor(asked)).toBe(sent)
  })

  test('the query of a remote URL reaches the server and not the client URL', async () => {
    let url: string | undefined
    const target = await testServer((request, response) => {
      url = request.url
      response.end('{}')
    })
    const remote_url = `${target}/deep/mcp?token=hidden`
    const proxy = await testProxy({ target: remote_url, config: { remote_url } })
    expect(proxy.url).toBe(`${proxy.origin}/deep/mcp`)
    await post(proxy.url, rpc('ping', 1))
    expect(url).toBe('/deep/mcp?token=hidden')
  })

  test('401 of a remote server passes with its challenge', async () => {
    const target = await testServer((_request, response) =>
      response.writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="https://x"' }).end('no'),
    )
    const proxy = await testProxy({ target, config: { remote_url: target } })
    const answer = await post(`${proxy.origin}/`, rpc('initialize', 1))
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toContain('resource_metadata')
  })
})

describe('redirects', () => {
  async function redirecting(status: number, location: string, headers: Record<string, string> = {}) {
    const seen: {
      method: string | undefined
      url: string | undefined
      body: string
      auth: string | undefined
    }[] = []
    const target = await testServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      seen.push({ method: request.method, url: request.url, body, auth: request.headers.authorization })
      if (request.url === '/mcp') response.writeHead(status, { location }).end('moved')
      else if (request.url === '/loop') response.writeHead(307, { location: '/loop' }).end()
      else response.end('arrived')
    })
    const proxy = await testProxy({ target })
    const answer = await fetch(`${proxy.origin}/mcp`, {
      method: 'POST',
      body: rpc('ping', 1),
      headers,
      redirect: 'manual',
    })
    return { answer, seen, proxy }
  }

  test.each([301, 302, 307, 308])(
    '%d within the server is followed with method, body and credentials',
    async status => {
      const { answer, seen } = await redirecting(status, '/mcp/', { authorization: 'Bearer t' })
      expect(await answer.text()).toBe('arrived')
      expect(seen[1]).toEqual({ method: 'POST', url: '/mcp/', body: rpc('ping', 1), auth: 'Bearer t' })
    },
  )

  test('to another server it is given back, and nothing is sent there', async () => {
    let leaked = false
    const other = await testServer((_request, response) => {
      leaked = true
      response.end()
    })
    const { answer } = await redirecting(307, `${other}/mcp`, { authorization: 'Bearer t' })
    expect(answer.status).toBe(307)
    expect(answer.headers.get('location')).toBe(`${other}/mcp`)
    expect(leaked).toBe(false)
  })

  test('a path that reads like another host stays a path, and nothing is sent there', async () => {
    let leaked = false
    const other = await testServer((_request, response) => {
      leaked = true
      response.end()
    })
    const seen: (string | undefined)[] = []
    const target = await testServer((request, response) => {
      seen.push(request.url)
      if (request.url === '/tidy') return response.end('arrived')
      // As servers do that tidy up double slashes.
      response.writeHead(307, { location: '/tidy' }).end()
    })
    const proxy = await testProxy({ target })
    const path = `//${new URL(other).host}/x`

    const answer = await fetch(`${proxy.origin}${path}`, { headers: { authorization: 'Bearer t' } })

    expect([await answer.text(), leaked]).toEqual(['arrived', false])
    expect(seen).toEqual([path, '/tidy'])
  })

  test('a loop ends after ten', async () => {
    const { answer, seen } = await redirecting(307, '/loop')
    expect(answer.status).toBe(307)
    expect(seen).toHaveLength(11)
  })

  test('303 is the client’s to follow, and leads back to the proxy', async () => {
    const { answer, proxy } = await redirecting(303, '/elsewhere')
    expect(answer.status).toBe(303)
    expect(new URL(answer.headers.get('location') ?? '', proxy.origin).origin).toBe(proxy.origin)
  })
})

test('an event stream’s head arrives before its first event, and events as they come', async () => {
  let send: (text: string) => void = () => {}
  const proxy = await testProxy({
    target: await testServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      send = text => response.write(text)
    }),
  })
  const answer = await fetch(`${proxy.origin}/mcp`)
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
  const reader = answer.body?.getReader()
  for (const text of ['data: 1\n\n', 'data: 2\n\n']) {
    send(text)
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(text)
  }
  await reader?.cancel()
})

test('text is never altered: big numbers, unknown members, odd spacing', async () => {
  const odd = '{ "jsonrpc":"2.0",\t"id":12345678901234567890, "result":{"n":1.0,"u":"\\u00e9é\u2028"}}'
  let got = ''
  const proxy = await testProxy({
    target: await testServer(async (request, response) => {
      for await (const chunk of request) got += chunk
      response.end(odd)
    }),
  })
  expect(await (await post(`${proxy.origin}/mcp`, odd)).text()).toBe(odd)
  expect(got).toBe(odd)
})
