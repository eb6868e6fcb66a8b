import { createServer } from 'node:http'
import { type AddressInfo, isIPv6 } from 'node:net'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type ApiServer, startApi, stopSupervisor } from '../support/api-server.ts'
import { ATTACKER_UID, askAs, needsOtherUsers, runAs, VICTIM_UID } from '../support/hostile/other-user.ts'
import { type KeelsonUser, keelsonUser } from '../support/keelson.ts'

/** A server behind a proxy that keeps what reaches it. */
async function witness(): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { id, method } = JSON.parse(body || '{}')
    seen.push(`${request.method} ${method ?? request.url}`)
    response.setHeader('content-type', 'application/json')
    if (id === undefined) return response.writeHead(202).end()
    const result =
      method === 'initialize'
        ? { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'witness', version: '1' } }
        : { tools: [] }
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen }
}

const CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const post = { method: 'POST', headers: JSON_HEADERS, body: CALL }

/** A running workload of a user, as `run` makes it. */
async function runRemote(user: KeelsonUser, url: string, ...more: string[]): Promise<string> {
  onTestFinished(() => stopSupervisor(user))
  const { code, stdout, stderr } = await user.run(['run', url, '--name', 'mine', ...more])
  expect(code, stderr).toBe(0)
  return stdout.trim()
}

describe('another user of the machine', { timeout: 120_000 }, () => {
  beforeEach(needsOtherUsers)
  const victim = () => keelsonUser({ uid: VICTIM_UID })

  test('reaches no server through the proxy of a workload; its owner and root do', async () => {
    const { url, seen } = await witness()
    const proxy = await runRemote(await victim(), url)
    seen.length = 0

    for (const path of [proxy, proxy.replace('127.0.0.1', 'localhost'), new URL('/health', proxy).href])
      expect(await askAs(ATTACKER_UID, path, post)).toMatchObject({ status: 403 })
    expect((await askAs(ATTACKER_UID, proxy, post)).body).toContain('"jsonrpc":"2.0"')
    expect((await askAs(ATTACKER_UID, proxy, { headers: { accept: 'text/event-stream' } })).status).toBe(403)
    expect(seen).toEqual([])

    expect(await askAs(VICTIM_UID, proxy, post)).toMatchObject({ status: 200 })
    expect(await askAs(0, proxy, post)).toMatchObject({ status: 200 })
    expect(seen).toEqual(['POST tools/list', 'POST tools/list'])
  })

  test.each(['127.0.0.1', '::1'])('sees and changes nothing of `serve` on %s', async host => {
    const user = await victim()
    const api = await startApi({ user, args: ['--port', '0', '--host', host, '--ui'] })
    expect(api.url).toContain(isIPv6(host) ? '[::1]' : host)
    const remote = JSON.stringify({ name: 'forged', url: 'http://127.0.0.1:9/mcp' })
    for (const [method, path, body] of [
      ['GET', '/api/v1beta/workloads?all=true'],
      ['POST', '/api/v1beta/workloads', remote],
      ['GET', '/api/v1beta/secrets/default/keys'],
      ['POST', '/api/v1beta/secrets', '{"provider_type":"environment"}'],
      ['GET', '/api/v1beta/events'],
      ['GET', '/api/openapi.json'],
      ['GET', '/health'],
      ['GET', '/'],
    ] as const) {
      const answer = await askAs(ATTACKER_UID, `${api.url}${path}`, { method, ...(body ? { body } : {}) })
      expect([path, answer.status]).toEqual([path, 403])
      expect(answer.body).toContain('not of that user')
    }
    expect(await listed(api)).toEqual([])
    expect((await askAs(0, `${api.url}/health`)).status).toBe(204)
  })

  const listed = async (api: ApiServer) =>
    JSON.parse((await askAs(VICTIM_UID, `${api.url}/api/v1beta/workloads?all=true`)).body).workloads

  test('who writes a request and closes at once, resets or shuts down, has done nothing', async () => {
    const api = await startApi({ user: await victim(), args: ['--port', '0'] })
    const { port } = new URL(api.url)
    await runAs(
      ATTACKER_UID,
      `for (let i = 0; i < 60; i++) {
         const body = JSON.stringify({ name: 'forged-' + i, url: 'http://127.0.0.1:9/mcp' })
         const socket = net.connect({ port: Number(args.port), host: '127.0.0.1', allowHalfOpen: true })
         socket.on('error', () => {})
         await once(socket, 'connect')
         const request = 'POST /api/v1beta/workloads HTTP/1.1\\r\\nHost: 127.0.0.1:' + args.port +
           '\\r\\nContent-Length: ' + body.length + '\\r\\n\\r\\n' + body
         if (i % 3 === 0) socket.end(request)
         else socket.write(request, () => (i % 3 === 1 ? socket.destroy() : socket.resetAndDestroy()))
         await once(socket, i % 3 === 0 ? 'finish' : 'close')
       }
       await new Promise(resolve => setTimeout(resolve, 200))
       return 1`,
      { port },
    )
    expect(await listed(api)).toEqual([])
    expect(api.log()).not.toContain('forged')
  })

  test('what was sent ahead on one connection stays refused; the next of the owner is answered', async () => {
    const { url, seen } = await witness()
    const proxy = await runRemote(await victim(), url)
    seen.length = 0
    const pipelined = `
      const { port } = new URL(args.proxy)
      const socket = net.connect(Number(port), '127.0.0.1')
      const request = 'POST /mcp HTTP/1.1\\r\\nHost: 127.0.0.1:' + port + '\\r\\nContent-Type: application/json\\r\\n' +
        'Accept: application/json, text/event-stream\\r\\nContent-Length: ' + args.call.length + '\\r\\n\\r\\n' + args.call
      let answer = ''
      socket.on('data', chunk => { answer += chunk })
      socket.write(request.repeat(3))
      while (answer.split('HTTP/1.1 ').length < 4) await once(socket, 'data')
      socket.write(request)
      while (answer.split('HTTP/1.1 ').length < 5) await once(socket, 'data')
      return answer.match(/HTTP\\/1\\.1 \\d+/g)`
    const args = { proxy, call: CALL }

    expect(await runAs(ATTACKER_UID, pipelined, args)).toEqual(Array(4).fill('HTTP/1.1 403'))
    expect(seen).toEqual([])
    expect(await runAs(VICTIM_UID, pipelined, args)).toEqual(Array(4).fill('HTTP/1.1 200'))
    expect(seen).toHaveLength(4)
  })

  test('an IPv6 socket that connects to an IPv4 address is told apart as well', async () => {
    const { url } = await witness()
    const proxy = await runRemote(await victim(), url)
    const { port } = new URL(proxy)
    const mapped = `
      const socket = net.connect({ port: Number(args.port), host: '::ffff:127.0.0.1', family: 6 })
      socket.write('GET /health HTTP/1.1\\r\\nHost: 127.0.0.1:' + args.port + '\\r\\nConnection: close\\r\\n\\r\\n')
      let answer = ''
      for await (const chunk of socket) answer += chunk
      return answer.split(' ')[1]`
    expect(await runAs(ATTACKER_UID, mapped, { port })).toBe('403')
    expect(await runAs(VICTIM_UID, mapped, { port })).toBe('200')
  })

  test('fifty at a time of both users are told apart', async () => {
    const { url, seen } = await witness()
    const proxy = await runRemote(await victim(), url)
    seen.length = 0
    const many = `
      const ask = () => fetch(args.proxy, { ...args.post, headers: { ...args.post.headers, connection: 'close' } })
      const answers = await Promise.all(Array.from({ length: 50 }, ask))
      return [...new Set(answers.map(({ status }) => status))]`
    const [theirs, ours] = await Promise.all([
      runAs(ATTACKER_UID, many, { proxy, post }),
      runAs(VICTIM_UID, many, { proxy, post }),
    ])
    expect([theirs, ours]).toEqual([[403], [200]])
    expect(seen).toHaveLength(50)
  })
})
