import { expect, test } from 'vitest'
import { createWorkloadStore } from '../../../plugins/state/workload-store.ts'
import { findUntakenPort, portsOfOthers } from '../../../plugins/workloads/free-ports.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { type Home, until } from '../../e2e/home.ts'
import { sendJson } from '../../support/registry-server.ts'
import { post, rpc } from '../proxy/test-proxy.ts'
import { login, runAndLogIn, world } from './login-world.ts'

const COUNT = 100
/** The life of a short token, and when less than a fifth of it is left, in seconds. */
const SHORT = 20
const NEARLY_OVER = 17

/** Makes workloads like the one that is there, as many as are wanted in all, and starts them. Gives their URLs. */
async function multiply(home: Home, name: string): Promise<string[]> {
  const log = createLog({ write: () => undefined, human: false, debug: false })
  const { configs } = createWorkloadStore({ paths: findPaths(home.env), log })
  const config = await configs.find(name)
  if (!config) throw new Error(`there is no workload ${name}`)
  const taken = await portsOfOthers({ configs }, '')
  for (let i = 1; i < COUNT; i++) {
    const port = await findUntakenPort(taken)
    taken.add(port)
    await configs.save({ ...config, name: `${name}-${i}`, port })
  }
  await home.ok(['start', '--all'])
  const list = JSON.parse(await home.ok(['list', '--format', 'json'])) as { url: string }[]
  return list.map(({ url }) => url)
}

test('a hundred workloads share one token, and refresh it once when it ends and once when it is refused', {
  timeout: 240_000,
}, async () => {
  const { home, provider, server, asked } = await world()
  await runAndLogIn(home, login(server, 'far'), provider)
  const urls = await multiply(home, 'far')
  expect(urls).toHaveLength(COUNT)
  let refused = ''
  server.answer((request, response, { pathname }) => {
    if (pathname.startsWith('/.well-known/')) {
      const scopes_supported = ['openid', 'offline_access']
      return sendJson(response, {
        resource: server.mcp,
        authorization_servers: [provider.issuer],
        scopes_supported,
      })
    }
    const { authorization = '' } = request.headers
    if (authorization && authorization !== refused) return sendJson(response, {})
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
  })
  /** Calls every workload at once. Gives the tokens that the server took. */
  const callAll = async () => {
    const from = server.asked.length
    const responses = await Promise.all(urls.map((url, i) => post(url, rpc('ping', i))))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    const taken = server.asked.slice(from).filter(({ path, status }) => path === '/mcp' && status === 200)
    expect(taken).toHaveLength(COUNT)
    return new Set(taken.map(({ headers }) => headers.authorization ?? ''))
  }
  const callAllWithOneToken = async () => {
    const [token = '', ...more] = await callAll()
    expect(more).toEqual([])
    return token
  }

  const first = await callAllWithOneToken()
  expect(first).toMatch(/^Bearer ey/)
  const before = asked('refresh_token')
  expect(before).toBeLessThanOrEqual(2) // by the supervisor that hosts them, and by `run` for the first one

  // It is refused: all notice at once.
  refused = first
  const second = await callAllWithOneToken()
  expect(second).not.toBe(first)
  expect(asked('refresh_token')).toBe(before + 1)

  // It ends: the next one is short, the one after that is long.
  provider.expireAfter(SHORT)
  const again = await runAndLogIn(home, ['auth', 'login', 'far', '--skip-browser'], provider)
  expect([again.code, again.visits]).toEqual([0, 1])
  await until(async () => {
    await post(urls[0] ?? '', rpc('ping', 1))
    const taken = server.asked.findLast(({ path, status }) => path === '/mcp' && status === 200)
    expect(taken?.headers.authorization).not.toBe(second)
  })
  expect(asked('refresh_token')).toBe(before + 2)
  const issued = Date.now()
  provider.expireAfter(3600)
  await until(() => expect(Date.now() - issued).toBeGreaterThan(NEARLY_OVER * 1000))
  // The first of these calls have it refreshed, and use the old one while that is under way.
  expect((await callAll()).size).toBeLessThanOrEqual(2)
  await until(() => expect(asked('refresh_token')).toBe(before + 3))
  const last = await callAllWithOneToken()
  expect(last).not.toBe(second)
  expect(asked('refresh_token')).toBe(before + 3)
})
