import { createServer, type IncomingMessage } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { clientAddressOf } from '../../../plugins/proxy/index.ts'
import { authWorld } from './auth-world.ts'

const STRANGER = '203.0.113.66'
const ADA = '198.51.100.7'

test('whoever registers too many clients locks out nobody else', async () => {
  const { register, from, stored, clock } = await authWorld()
  from(STRANGER)
  const statuses: number[] = []
  for (let n = 0; n < 30; n++) statuses.push((await register()).status)
  expect(statuses).toEqual([...Array(20).fill(201), ...Array(10).fill(429)])
  const refused = await register()
  expect(refused.headers.get('retry-after')).toBe('10')
  from(ADA)
  expect((await register()).status).toBe(201)
  expect(stored()).toHaveLength(21)
  from(STRANGER)
  clock.ms += 10_000
  expect((await register()).status).toBe(201)
})

test('many addresses together register a hundred clients at once, and then five a second', async () => {
  const { register, from, clock } = await authWorld()
  const registerAll = async (first: number) => {
    const statuses: number[] = []
    for (let n = 0; n < 120; n++) {
      from(`203.0.${first}.${n}`)
      statuses.push((await register()).status)
    }
    return statuses.filter(status => status === 201).length
  }
  expect(await registerAll(113)).toBe(100)
  clock.ms += 2000
  expect(await registerAll(114)).toBe(10)
})

test('all addresses of one IPv6 network are one', async () => {
  const { register, from } = await authWorld()
  const statuses: number[] = []
  for (let n = 0; n < 21; n++) {
    from(`2001:db8:1:2:${n}::1`)
    statuses.push((await register()).status)
  }
  expect(statuses.at(-1)).toBe(429)
  from('2001:db8:1:3::1')
  expect((await register()).status).toBe(201)
})

test('a stranger fills no storage with clients that have secrets and no use', async () => {
  const { register, stored, origin, clock } = await authWorld({
    config: { allow_confidential_clients: true },
  })
  const response = await register({ token_endpoint_auth_method: 'client_secret_post' })
  const { client_id = '', client_secret = '' } = (await response.json()) as Record<string, string>
  const body = () => new URLSearchParams({ client_id, client_secret, token: 'made up' })
  const introspect = () => fetch(`${origin}/oauth/introspect`, { method: 'POST', body: body() })
  expect(await (await introspect()).json()).toEqual({ active: false })
  expect(stored()).toHaveLength(1)
  clock.ms += 7_200_001
  expect((await introspect()).status).toBe(401)
})

test('a client with a secret that has been asked about a token stays', async () => {
  const { register, registered, loggedIn, origin, clock } = await authWorld({
    config: { allow_confidential_clients: true },
  })
  const response = await register({ token_endpoint_auth_method: 'client_secret_post' })
  const { client_id = '', client_secret = '' } = (await response.json()) as Record<string, string>
  const { access_token: token } = await loggedIn(await registered())
  const introspect = () =>
    fetch(`${origin}/oauth/introspect`, {
      method: 'POST',
      body: new URLSearchParams({ client_id, client_secret, token }),
    })
  expect(await (await introspect()).json()).toMatchObject({ active: true })
  clock.ms += 7_200_001
  expect((await introspect()).status).toBe(200)
})

test.each<[string, boolean, string | undefined, string]>([
  ['nobody is trusted', false, ADA, '127.0.0.1'],
  ['the trusted proxy says nothing', true, undefined, '127.0.0.1'],
  ['the trusted proxy says so', true, ADA, ADA],
  ['the trusted proxy adds to what the client made up', true, `${STRANGER}, ${ADA}`, ADA],
  ['the trusted proxy says it in IPv6', true, '2001:db8::1', '2001:db8::1'],
  ['the trusted proxy writes something else', true, `${ADA}, unknown`, '127.0.0.1'],
])('the address that counts, where %s', async (_, trusts, forwarded, address) => {
  const found = await new Promise<string | undefined>(resolve => {
    const server = createServer((request: IncomingMessage, response) => {
      resolve(clientAddressOf(request, trusts ? { trust_proxy_headers: true } : {}))
      response.end()
    })
    onTestFinished(() => void server.close())
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
      void fetch(`http://127.0.0.1:${port}/`, { headers })
    })
  })
  expect(found).toBe(address)
})
