import { expect, test } from 'vitest'
import { post, rpc, testServer } from '../proxy/test-proxy.ts'
import { as, ask, authorizedProxy, cedar, offeringServer } from './authz-world.ts'

const alice = { sub: 'alice', groups: ['staff'], level: 3, realm: { roles: ['admin'] } }
const bob = { sub: 'bob' }

test('policies decide calls by caller, tool and arguments, and name themselves', async () => {
  const { target, received } = await offeringServer()
  const { url, decisions } = await authorizedProxy(
    {
      authz_config: cedar(
        '@id("staff-reads") permit(principal in THVGroup::"staff", action == Action::"call_tool", resource == Tool::"read");',
        'permit(principal, action == Action::"call_tool", resource == Tool::"pay") when { context.arg_amount <= 100 && principal.claim_level >= 3 };',
        '@id("never") forbid(principal, action, resource) when { context has arg_force && context.arg_force };',
        'permit(principal, action == Action::"read_resource", resource) when { resource.uri like "file:///pub/*" };',
        'permit(principal == Client::"alice", action == Action::"get_prompt", resource in MCP::"test");',
      ),
    },
    { target },
  )
  const call = (who: object, name: string, args: object = {}) =>
    ask(url, who, 'tools/call', { name, arguments: args })
  const denied = {
    status: 403,
    body: { jsonrpc: '2.0', id: 'an-id', error: { code: 403, message: 'Unauthorized' } },
  }

  expect((await call(alice, 'read')).status).toBe(200)
  expect(decisions.at(-1)).toEqual({ isAllowed: true, policies: ['staff-reads'] })
  expect(await call(bob, 'read')).toEqual(denied)
  expect(decisions.at(-1)).toEqual({ isAllowed: false, policies: [] })
  expect((await call(alice, 'pay', { amount: 100 })).status).toBe(200)
  expect(decisions.at(-1)).toEqual({ isAllowed: true, policies: ['policy1'] })
  for (const amount of [101, 100.5, '1', null, [1], { a: 1 }, 1e30, undefined]) {
    expect(await call(alice, 'pay', { amount })).toEqual(denied)
  }
  expect(await call(alice, 'read', { force: true })).toEqual(denied)
  expect(decisions.at(-1)).toEqual({ isAllowed: false, policies: ['never'] })
  // A forbid that cannot be evaluated denies.
  expect(await call(alice, 'read', { force: 'yes' })).toEqual(denied)
  expect(decisions.at(-1)).toEqual({ isAllowed: false, policies: ['never'] })

  const read = (uri: string, method = 'resources/read') => ask(url, bob, method, { uri })
  expect((await read('file:///pub/a')).status).toBe(200)
  expect((await read('file:///pub/a', 'resources/subscribe')).status).toBe(200)
  expect((await read('file:///etc/passwd')).status).toBe(403)
  expect((await ask(url, alice, 'prompts/get', { name: 'p' })).status).toBe(200)
  expect((await ask(url, bob, 'prompts/get', { name: 'p' })).status).toBe(403)
  const complete = (who: object) =>
    ask(url, who, 'completion/complete', { ref: { type: 'ref/prompt', name: 'p' } })
  expect([(await complete(alice)).status, (await complete(bob)).status]).toEqual([200, 403])
  expect((await ask(url, bob, 'ping')).status).toBe(200)
  expect((await ask(url, alice, 'no/such')).status).toBe(403)
  expect(received).toHaveLength(7)
})

test('lists show what the caller may use', async () => {
  const hints = { annotations: { readOnlyHint: true } }
  const offers = {
    tools: [{ name: 'read', ...hints, extra: 1.0 }, { name: 'pay' }, { name: 'drop', annotations: {} }],
    prompts: [{ name: 'p' }, { name: 'q' }],
    resources: [
      { uri: 'file:///a', name: 'a' },
      { uri: 'file:///b', name: 'b' },
    ],
    resourceTemplates: [
      { uriTemplate: 'file:///{x}', name: 'x' },
      { uriTemplate: 'http://{y}', name: 'y' },
    ],
  }
  const { target } = await offeringServer(offers)
  const { url } = await authorizedProxy(
    {
      authz_config: cedar(
        'permit(principal, action == Action::"call_tool", resource) when { resource has readOnlyHint && resource.readOnlyHint };',
        'permit(principal == Client::"alice", action, resource == Tool::"pay");',
        'permit(principal, action, resource == Prompt::"q");',
        'permit(principal, action == Action::"read_resource", resource) when { resource.name like "file:*" };',
        'forbid(principal, action, resource == Resource::"file:///b");',
      ),
    },
    { target },
  )
  const list = async (who: object, what: string) => (await ask(url, who, `${what}/list`)).body.result
  expect(await list(bob, 'tools')).toEqual({ tools: [offers.tools[0]], nextCursor: 'next' })
  expect(await list(alice, 'tools')).toEqual({ tools: offers.tools.slice(0, 2), nextCursor: 'next' })
  expect((await ask(url, bob, 'tools/call', { name: 'read' })).status).toBe(200)
  expect((await ask(url, bob, 'tools/call', { name: 'drop' })).status).toBe(403)
  expect(await list(bob, 'prompts')).toMatchObject({ prompts: [{ name: 'q' }] })
  expect(await list(bob, 'resources')).toMatchObject({ resources: [{ name: 'a' }] })
  expect(await list(bob, 'resources/templates')).toMatchObject({ resourceTemplates: [{ name: 'x' }] })
})

test('what a tool says of itself counts for the first call, and nothing passes while nobody can ask', async () => {
  const tools = [{ name: 'drop', annotations: { destructiveHint: true } }, { name: 'read' }]
  const { target, received } = await offeringServer({ tools })
  const policies = cedar(
    'permit(principal, action, resource);',
    'forbid(principal, action, resource) when { resource has destructiveHint && resource.destructiveHint };',
  )
  const { url } = await authorizedProxy({ authz_config: policies }, { target })
  const statusOf = async (name: string) => (await ask(url, alice, 'tools/call', { name })).status
  expect(await statusOf('drop')).toBe(403)
  const messages = received.length
  expect(await statusOf('read')).toBe(200)
  expect(await statusOf('unlisted')).toBe(200)
  expect(await statusOf('unlisted')).toBe(200)
  expect(received.filter(text => text.includes('"drop"'))).toEqual([])
  expect(received.slice(messages).filter(text => text.includes('tools/list'))).toHaveLength(2) // both pages, once

  const broken = await testServer((_, response) => response.writeHead(500).end())
  const other = await authorizedProxy({ authz_config: policies }, { target: broken })
  expect((await ask(other.url, alice, 'tools/call', { name: 'drop' })).status).toBe(403)
})

test('without a login the user of this machine is the principal', async () => {
  const { target } = await offeringServer()
  const { url } = await authorizedProxy(
    {
      authz_config: cedar(
        'permit(principal, action, resource) when { principal.claim_email like "*@localhost" && principal.claim_sub != "anonymous" };',
      ),
    },
    { target },
  )
  expect((await post(url, rpc('tools/call', 1, { name: 'a' }))).status).toBe(200)
  expect((await post(url, rpc('tools/call', 1, { name: 'a' }), as(bob))).status).toBe(403)
})

test('headers of the message say what was judged', async () => {
  const { target, headers } = await offeringServer()
  const { url } = await authorizedProxy(
    { authz_config: cedar('permit(principal, action, resource);') },
    { target },
  )
  const call = rpc('tools/call', 1, { name: 'lösch' })
  const response = await post(url, call, { ...as(alice), 'mcp-method': 'ping', 'mcp-name': 'read' })
  expect(response.status).toBe(200)
  expect(headers.at(-1)).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': '=?base64?bMO2c2No?=' })
})
