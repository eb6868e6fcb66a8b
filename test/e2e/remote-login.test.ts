import { expect, test } from 'vitest'
import { post, rpc } from '../plugins/proxy/test-proxy.ts'
import { clientV1, textOf } from './clients.ts'
import { until } from './home.ts'
import { HOUR, world } from './remote-login-world.ts'

// A remote server that demands a login, from an empty home, with a person at a real browser.

const whoAmI = async (url: string) => textOf(await (await clientV1(url)).callTool({ name: 'who_am_i' }))

test('one command and a browser lead to a called tool, and a restart needs no browser', async context => {
  const { home, server, opened, logins, logIn } = await world(context)

  const url = await logIn('run', server.mcp, '--name', 'far')
  expect(await whoAmI(url)).toBe('ada')

  const before = await home.supervisor()
  process.kill(before, 'SIGKILL')
  await until(async () => expect(await whoAmI(url)).toBe('ada'))
  expect([0, before]).not.toContain(await home.supervisor())
  expect([await opened(), logins()]).toEqual([[expect.any(String)], 1])
})

test('an expired access token is renewed, and each refresh token is used once', async context => {
  const { server, opened, lastToken, logins, spent, tokenEnd, logIn } = await world(context, {
    tokenSeconds: 5,
  })
  const client = await clientV1(await logIn('run', server.mcp, '--name', 'far'))
  const tokens = new Set<string>()

  let end = 0
  for (let round = 0; round < 3; round++) {
    await until(() => expect(Date.now()).toBeGreaterThan(end))
    expect(textOf(await client.callTool({ name: 'who_am_i' }))).toBe('ada')
    tokens.add(lastToken())
    end = await tokenEnd()
  }

  expect(tokens.size).toBe(3)
  expect(spent().length).toBeGreaterThanOrEqual(3)
  expect(new Set(spent()).size).toBe(spent().length)
  expect([(await opened()).length, logins()]).toEqual([1, 1])
})

test('a token that the server takes to be over, its clock being ahead, is renewed once', async context => {
  const { provider, server, clock, spent, tokenEnd, logIn } = await world(context)
  const client = await clientV1(await logIn('run', server.mcp, '--name', 'far'))
  expect(textOf(await client.callTool({ name: 'who_am_i' }))).toBe('ada')
  const [renewals, requests] = [spent().length, server.asked.length]

  clock.aheadMs = HOUR * 1000
  provider.expireAfter(2 * HOUR)
  expect(await tokenEnd()).toBeGreaterThan(Date.now()) // keelson trusts it
  const result = await client.callTool({ name: 'who_am_i' })

  expect(textOf(result)).toBe('ada')
  const calls = server.asked.slice(requests).filter(({ headers }) => headers.authorization)
  expect(calls.map(({ status }) => status)).toEqual([401, 200])
  expect(spent().length - renewals).toBe(1)
})

test('while the provider cannot be reached clients are told to wait, then it goes on by itself', async context => {
  const { provider, server, opened, listed, tokenEnd, logIn } = await world(context, { tokenSeconds: 5 })
  const url = await logIn('run', server.mcp, '--name', 'far')
  expect(await whoAmI(url)).toBe('ada')

  provider.answer(({ socket }) => {
    socket.destroy()
    return true
  })
  const end = await tokenEnd()
  await until(() => expect(Date.now()).toBeGreaterThan(end))
  const refused = await post(url, rpc('ping', 1))

  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10'])
  expect(await listed()).toMatchObject({
    status: 'auth_retrying',
    status_context: expect.stringMatching(/cannot be renewed now: .*\S/),
  })
  provider.expireAfter(HOUR)
  provider.answer(undefined)
  await until(async () => expect((await listed()).status).toBe('running'))
  expect(await whoAmI(url)).toBe('ada')
  expect((await opened()).length).toBe(1)
})

test('after a revocation the status says what to type, and typing it puts it right', async context => {
  const { provider, server, lastToken, listed, logIn } = await world(context)
  const url = await logIn('run', server.mcp, '--name', 'far')
  expect(await whoAmI(url)).toBe('ada')

  await provider.revoke(lastToken())
  const refused = await post(url, rpc('ping', 1))

  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10'])
  const shown = await listed()
  expect(shown.status).toBe('unauthenticated')
  const [command = ''] = /auth login far/.exec(shown.status_context ?? '') ?? []
  expect(command, shown.status_context).not.toBe('')

  await logIn(...command.split(' '))
  await until(async () => expect((await listed()).status).toBe('running'))
  expect(await whoAmI(url)).toBe('ada')
})
