import { expect, test } from 'vitest'
import { post, rpc, until } from '../proxy/test-proxy.ts'
import { filesWith } from './guarded-server.ts'
import { httpWorld } from './http-world.ts'

test('a workload made over HTTP says that it needs a login, and runs once a browser has made it', {
  timeout: 120_000,
}, async () => {
  const { home, provider, server, create, login, item, untilIs, asked } = await httpWorld()
  expect((await create('far')).status).toBe(201)
  await untilIs('far', 'unauthenticated')
  expect((await item('far'))?.status_context).toContain('Nobody is logged in to the remote server.')

  const begun = await login('POST', 'far')
  const { state, url } = begun.json() as { state: string; url: string }
  expect([begun.status, state]).toEqual([200, 'waiting'])
  await provider.visit(url)

  await untilIs('far', 'running')
  expect((await post((await item('far'))?.url ?? '', rpc('ping', 1))).status).toBe(200)
  expect(asked('authorization_code')).toBe(1)
  expect(await filesWith(home, server.asked.at(-1)?.headers.authorization?.slice(7) ?? '')).toEqual([])
})

test('all who begin a login of one server get the same one', { timeout: 120_000 }, async () => {
  const { provider, create, login, untilIs, asked } = await httpWorld()
  await create('far')
  await create('near')
  await untilIs('near', 'unauthenticated')

  const begun = await Promise.all([login('POST', 'far'), login('POST', 'near'), login('POST', 'far')])
  const urls = begun.map(one => (one.json() as { url: string }).url)
  expect(new Set(urls).size).toBe(1)
  await provider.visit(urls[0] ?? '')

  await untilIs('far', 'running')
  await untilIs('near', 'running')
  expect(asked('authorization_code')).toBe(1)
})

test('a login that is cancelled leaves nothing behind, and another one can be begun', {
  timeout: 120_000,
}, async () => {
  const { home, provider, create, login, untilIs, item } = await httpWorld()
  await create('far')
  await untilIs('far', 'unauthenticated')
  const { url } = (await login('POST', 'far')).json() as { url: string }

  expect((await login('DELETE', 'far')).status).toBe(204)

  await expect(provider.visit(url)).rejects.toThrow() // nobody listens where the browser comes back to
  expect(JSON.parse(await home.ok(['auth', 'list', '--format', 'json']))).toEqual([])
  expect((await item('far'))?.status).toBe('unauthenticated')
  expect((await login('DELETE', 'far')).status).toBe(204)
  const again = (await login('POST', 'far')).json() as { url: string }
  expect(again.url).not.toBe(url)
  await provider.visit(again.url)
  await untilIs('far', 'running')
})

test('the event login-ended says why a login has failed', { timeout: 120_000 }, async () => {
  const { api, provider, create, login, untilIs } = await httpWorld()
  await create('far')
  await untilIs('far', 'unauthenticated')
  const events = await fetch(`${api.url}/api/v1beta/events`)
  let heard = ''
  const reading = events.body?.pipeThrough(new TextDecoderStream()).pipeTo(
    new WritableStream({
      write(text) {
        heard += text
      },
    }),
  )
  provider.decide('deny')

  const { url } = (await login('POST', 'far')).json() as { url: string }
  await provider.visit(url)

  await until(async () => heard.includes('login-ended'))
  expect(heard).toMatch(/event: login-ended\ndata: \{"name":"far","problem":"The login at .* was refused: /)
  await api.stop()
  await reading?.catch(() => undefined)
})

test('no login is begun where none would help, or where it could not be kept', {
  timeout: 120_000,
}, async () => {
  const { home, api, provider, create, login, untilIs } = await httpWorld()
  await home.ok(['secret', 'set', 'TOKEN'], { input: 'a-token' })
  await create('token', { oauth_config: { bearer_token: { name: 'TOKEN', target: 'bearer_token' } } })
  await api.ask('POST', '/api/v1beta/workloads', { name: 'open', url: `${provider.issuer}/jwks` })
  await untilIs('token', 'running')

  expect((await login('POST', 'token')).text).toContain('has a bearer token')
  expect((await login('POST', 'open')).text).toContain('does not ask for a login')
  expect((await login('POST', 'nobody')).status).toBe(404)
})

test('without a secrets provider the login lasts in memory', { timeout: 120_000 }, async () => {
  const { home, provider, server, create, login, item, untilIs } = await httpWorld({ secrets: false })
  await create('far')
  await untilIs('far', 'unauthenticated')

  const { url } = (await login('POST', 'far')).json() as { url: string }
  await provider.visit(url)

  await untilIs('far', 'running')
  expect((await post((await item('far'))?.url ?? '', rpc('ping', 1))).status).toBe(200)
  expect(await filesWith(home, server.asked.at(-1)?.headers.authorization?.slice(7) ?? '')).toEqual([])
})

test('pages of other sites can begin no login', async () => {
  const { api, create, untilIs, asked } = await httpWorld()
  await create('far')
  await untilIs('far', 'unauthenticated')

  const path = `${api.url}/api/v1beta/workloads/far/login`
  const shown = await fetch(path, { method: 'POST', headers: { origin: 'https://other.example' } })

  expect(shown.status).toBe(403)
  expect(asked('authorization_code')).toBe(0)
})
