import { once } from 'node:events'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, isIPv6 } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { serve } from '../plugins/mcp/servers.ts'
import { makeRemote, startUi } from '../plugins/serve/ui/open-page.ts'
import { type ApiServer, startApi, stopSupervisor } from '../support/api-server.ts'
import { visit } from '../support/browser.ts'
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

/** Waits until `run` has asked whether the server demands a login, and the supervisor whether it responds. */
async function forgetStart(seen: string[], asked = 2): Promise<void> {
  await expect.poll(() => seen.filter(request => request === 'POST initialize').length).toBe(asked)
  seen.length = 0
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
    await forgetStart(seen)

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
      expect(answer.body).toContain('belongs to another user')
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

  test('a request sent ahead on a refused connection stays refused; the next one of the owner gets a response', async () => {
    const { url, seen } = await witness()
    const proxy = await runRemote(await victim(), url)
    await forgetStart(seen)
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

  test('an IPv6 socket that connects to an IPv4 address is recognised as well', async () => {
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

  test('fifty connections at a time of both users are told apart', async () => {
    const { url, seen } = await witness()
    const proxy = await runRemote(await victim(), url)
    await forgetStart(seen)
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

describe('a web page of another site, in Chromium', { timeout: 180_000 }, () => {
  /** Everything a page can send without asking first, and what it can ask for. */
  const ATTACK = `(async ({ paths, body }) => {
    const outcomes = []
    const settle = (event, make) => new Promise(resolve => {
      const node = make()
      for (const name of event.split(' ')) node.addEventListener(name, () => resolve())
      setTimeout(resolve, 5000)
    })
    const put = (tag, members) => {
      const node = Object.assign(document.createElement(tag), members)
      document.body.append(node)
      return node
    }
    for (const url of paths) {
      for (const options of [{}, { mode: 'no-cors' }, { mode: 'no-cors', method: 'POST', body }])
        outcomes.push(await fetch(url, options).then(answer => answer.type, () => 'refused'))
      await settle('load error', () => put('img', { src: url + '?img' }))
      await settle('load error', () => put('script', { src: url + '?script' }))
      await settle('load error', () => put('iframe', { src: url + '?frame' }))
      await settle('error open', () => new EventSource(url))
      await settle('error open', () => new WebSocket(url.replace('http', 'ws')))
      for (const [method, enctype] of [['get', ''], ['post', 'text/plain']]) {
        const frame = put('iframe', { name: 'sink' + document.querySelectorAll('iframe').length })
        const form = put('form', { method, action: url, enctype, target: frame.name })
        form.append(Object.assign(document.createElement('input'), { name: body.slice(0, -1) + ',"x":"', value: '"}' }))
        await settle('load', () => { form.submit(); return frame })
      }
    }
    return outcomes
  })`

  test.for([
    ['the same site, another port', '127.0.0.1'],
    ['another site', 'localhost'],
  ] as const)('from %s reaches neither the API nor a server', async ([, host], context) => {
    const { url, seen } = await witness()
    const api = await startUi()
    await makeRemote(api, 'mine', url)
    const [{ url: proxy } = { url: '' }] = (await listed(api)) as { url: string }[]
    const elsewhere = (await blank()).replace('127.0.0.1', host)
    const { page, load, networkChanges } = await visit(context, elsewhere)
    const statuses: [string, number][] = []
    const targets = [new URL(proxy).origin, api.url]
    page.on('response', response => {
      if (targets.some(target => response.url().startsWith(target)))
        statuses.push([response.url(), response.status()])
    })
    await forgetStart(seen, 1)
    const paths = [proxy, new URL('/health', proxy).href, `${api.url}/api/v1beta/workloads`, `${api.url}/`]
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', name: 'forged', url })

    let outcomes: string[]
    let changes: number
    do {
      changes = networkChanges()
      statuses.length = 0
      outcomes = await page.evaluate<string[]>(`${ATTACK}(${JSON.stringify({ paths, body })})`)
    } while (networkChanges() > changes) // the browser gave some of it up

    expect(outcomes.filter(type => type === 'basic' || type === 'cors')).toEqual([])
    // Frames, forms and event streams; of images, scripts and fetches Chromium tells no status.
    expect(statuses.length).toBeGreaterThanOrEqual(paths.length * 4)
    expect(statuses.filter(([, status]) => status !== 403)).toEqual([])
    expect(seen).toEqual([])
    expect(await listed(api)).toMatchObject([{ name: 'mine' }])

    const follow = (url: string) =>
      load(async () => {
        await page.evaluate(`location.href = ${JSON.stringify(url)}`)
        await page.waitForURL(url)
      })
    await follow(`${api.url}/api/v1beta/workloads`)
    await page.getByText('Other sites may link to the page at /').waitFor()
    await load(() => page.goto(elsewhere))
    await follow(`${api.url}/`)
    await page.getByText('Live', { exact: true }).waitFor()
  })

  test('gains nothing by a name that leads here', async context => {
    const { url, seen } = await witness()
    const api = await startUi()
    await makeRemote(api, 'mine', url)
    const [{ url: proxy } = { url: '' }] = (await listed(api)) as { url: string }[]
    await forgetStart(seen, 1)
    for (const target of [proxy, `${api.url}/`]) {
      const rebound = target.replace('127.0.0.1', 'rebound.example')
      const { page } = await visit(context, rebound, { names: ['rebound.example'] })
      const outcome = await page.evaluate(`fetch('', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-host': 'localhost' },
        body: ${JSON.stringify(CALL)},
      }).then(answer => answer.status)`)
      expect(outcome).toBe(403)
    }
    expect(seen).toEqual([])
  })

  const listed = async (api: ApiServer): Promise<object[]> =>
    ((await api.ask('GET', '/api/v1beta/workloads?all=true')).json() as { workloads: object[] }).workloads

  const blank = () =>
    serve((_, response) =>
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>elsewhere</title>'),
    )
})

describe('a proxy beyond loopback', { timeout: 120_000 }, () => {
  /** Its answers to requests that name a host and an origin; `AT` is where it listens. */
  async function statusOf(proxy: string, headers: Record<string, string>): Promise<number> {
    const { port } = new URL(proxy)
    const said = Object.entries(headers).map(([name, value]) => [
      name,
      value.replace('AT', `127.0.0.1:${port}`),
    ])
    const asked = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', agent: false })
    for (const [name = '', value = ''] of [...Object.entries(JSON_HEADERS), ...said])
      asked.setHeader(name, value)
    asked.end(CALL)
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode ?? 0
  }

  test('serves requests for addresses and its own names, from its own pages', async () => {
    const { url, seen } = await witness()
    const proxy = await runRemote(await keelsonUser(), url, '--host', '0.0.0.0')
    await forgetStart(seen)
    expect(await statusOf(proxy, { host: 'rebound.example' })).toBe(403)
    expect(await statusOf(proxy, { host: 'AT', origin: 'https://evil.example' })).toBe(403)
    expect(await statusOf(proxy, { host: 'AT', 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(seen).toEqual([])
    expect(await statusOf(proxy, { host: 'AT', origin: 'http://AT' })).toBe(200)
    expect(await statusOf(proxy, { host: hostname() })).toBe(200)
  })

  test('behind a proxy that is trusted, only names that somebody has given are ours', async () => {
    const { url, seen } = await witness()
    const user = await keelsonUser()
    const plain = await runRemote(user, url, '--trust-proxy-headers')
    await forgetStart(seen)
    expect(await statusOf(plain, { host: 'rebound.example' })).toBe(403)
    expect(await statusOf(plain, { host: 'rebound.example', 'x-forwarded-host': 'localhost' })).toBe(403)
    expect(await statusOf(plain, { host: 'AT', 'x-forwarded-host': 'tools.example' })).toBe(403)
    expect(seen).toEqual([])

    const named = ['--trust-proxy-headers', '--allowed-origins', 'https://tools.example', '--name', 'named']
    const { stdout, code } = await user.run(['run', url, ...named])
    expect(code).toBe(0)
    await forgetStart(seen)
    expect(
      await statusOf(stdout.trim(), { host: 'rebound.example', 'x-forwarded-host': 'tools.example' }),
    ).toBe(403)
    expect(seen).toEqual([])
    expect(await statusOf(stdout.trim(), { host: 'AT', 'x-forwarded-host': 'tools.example' })).toBe(200)
  })
})

describe('with a caller token', { timeout: 180_000 }, () => {
  async function userWithToken(): Promise<{ user: KeelsonUser; token: string; path: string }> {
    const user = await keelsonUser()
    expect(await user.run(['config', 'set-caller-token', 'required'])).toMatchObject({ code: 0, stderr: '' })
    const path = join(user.home, '.local/state/keelson/caller-token')
    return { user, path, token: (await readFile(path, 'utf8')).trim() }
  }

  test('a request without it is refused; programs of the user send it', async () => {
    const { user, token, path } = await userWithToken()
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    const { url, seen } = await witness()
    await mkdir(join(user.home, '.cursor'))
    await writeFile(join(user.home, '.cursor/mcp.json'), '{}', { mode: 0o644 })
    expect(await user.run(['client', 'register', 'cursor'])).toMatchObject({ code: 0 })
    const proxy = await runRemote(user, url)
    await forgetStart(seen)

    const without = await fetch(proxy, post)
    expect(without.status).toBe(401)
    expect(without.headers.get('www-authenticate')).toBe('Keelson-Caller-Token')
    expect(await without.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } })
    for (const wrong of ['', 'x', `${token}x`, token.replace(/.$/, '~')]) {
      const headers = { ...JSON_HEADERS, 'keelson-caller-token': wrong }
      expect((await fetch(proxy, { ...post, headers })).status).toBe(401)
    }
    expect(seen).toEqual([])
    const headers = { ...JSON_HEADERS, 'keelson-caller-token': token }
    expect((await fetch(proxy, { ...post, headers })).status).toBe(200)
    expect(await user.run(['mcp', 'list', '--server', 'mine'])).toMatchObject({ code: 0 })

    const pasted = JSON.parse((await user.run(['list', '--format', 'mcpservers'])).stdout)
    expect(pasted.mcpServers.mine.headers).toEqual({ 'keelson-caller-token': token })
    const client = join(user.home, '.cursor/mcp.json')
    const written = JSON.parse(await readFile(client, 'utf8')).mcpServers.mine
    expect(written).toMatchObject({ url: proxy, headers: { 'keelson-caller-token': token } })
    expect((await stat(client)).mode & 0o777).toBe(0o600)

    const exported = join(user.home, 'exported.json')
    expect(await user.run(['export', 'mine', exported])).toMatchObject({ code: 0 })
    const kept = await filesWith(user.home, token)
    expect(kept.sort()).toEqual([client, path].sort())

    expect(await user.run(['config', 'set-caller-token', 'off'])).toMatchObject({ code: 0, stderr: '' })
    await expect.poll(async () => (await fetch(proxy, post)).status).toBe(200)
    expect(await filesWith(user.home, token)).toEqual([])
    expect(JSON.parse(await readFile(client, 'utf8')).mcpServers.mine).not.toHaveProperty('headers')
  })

  test('a token stands for the user, whoever owns the connection', async context => {
    needsOtherUsers(context)
    const { user, token } = await userWithToken()
    const proxy = await runRemote(user, (await witness()).url)
    const headers = { ...JSON_HEADERS, 'keelson-caller-token': token }
    expect(await askAs(ATTACKER_UID, proxy, post)).toMatchObject({ status: 401 })
    expect(await askAs(ATTACKER_UID, proxy, { ...post, headers })).toMatchObject({ status: 200 })
  })

  test('the page takes it from behind its address, and keeps it for the tab alone', async context => {
    const { user, token } = await userWithToken()
    const api = await startApi({ user, args: ['--port', '0', '--ui'] })
    expect((await fetch(`${api.url}/api/v1beta/workloads`)).status).toBe(401)
    expect((await fetch(`${api.url}/api/v1beta/events`)).status).toBe(401)
    expect((await fetch(`${api.url}/health`)).status).toBe(204)

    const { page, load } = await visit(context, `${api.url}/#token=${token}`)
    await page.getByText('No workloads yet.').waitFor()
    expect(await page.evaluate('location.href')).toBe(`${api.url}/`)
    await load(() => page.reload())
    await page.getByText('Live', { exact: true }).waitFor()

    const other = await visit(context, `${api.url}/`)
    const dialog = other.page.getByRole('dialog', { name: 'Who are you?' })
    await dialog.getByLabel('Caller token').fill(token)
    await other.page.keyboard.press('Enter')
    await other.page.getByText('Live', { exact: true }).waitFor()
    expect(api.log()).not.toContain(token)
  })
})

/** Files below a folder that hold a text. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  const held = await Promise.all(files.map(async file => (await readFile(file, 'latin1')).includes(text)))
  return files.filter((_, index) => held[index])
}
