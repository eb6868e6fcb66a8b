import { expect, test } from 'vitest'
import { modernHeaders, modernParams } from './modern-client.ts'
import { createPuppet } from './puppet-server.ts'
import { call, rpc } from './raw-client.ts'
import { startBridge } from './start-bridge.ts'

const TOOLS = [
  {
    name: 'région',
    inputSchema: {
      properties: {
        where: { type: 'string', 'x-mcp-header': 'Where' },
        deep: { properties: { count: { type: 'integer', 'x-mcp-header': 'Count' } } },
      },
    },
  },
]
const NAME = '=?base64?csOpZ2lvbg==?='

/** A stdio server of 2026-07-28 that responds to each `tools/call` with what the test says. */
async function start(options: { tools?: object[]; response?: object } = {}) {
  const { tools = TOOLS, response = { result: { resultType: 'complete' } } } = options
  const server = createPuppet({ initialize: false, tools })
  const { url } = await startBridge({ attachment: server.attachment })
  void server.take('ping').then(({ message: { id } }) => {
    server.send({ jsonrpc: '2.0', id, error: { code: -32022, message: 'no' } })
  })
  const ask = async (
    args: Record<string, unknown>,
    headers: Record<string, string | undefined>,
    accept = 'application/json, text/event-stream',
  ) => {
    const params = { name: 'région', arguments: args }
    const sent = { ...modernHeaders('tools/call', params), 'mcp-name': NAME, accept, ...headers }
    const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined))
    const answer = call(url, rpc('a', 'tools/call', modernParams(params)), given as Record<string, string>)
    const reached = server.take('tools/call').then(({ message: { id } }) => {
      server.send({ jsonrpc: '2.0', id, ...response })
    })
    reached.catch(() => {}) // a refused call does not come
    return answer
  }
  return { server, url, ask }
}

test.each([
  ['another version', { 'mcp-protocol-version': '2027-01-01' }],
  ['a version of sessions', { 'mcp-protocol-version': '2025-11-25' }],
  ['no version', { 'mcp-protocol-version': undefined }],
  ['another method', { 'mcp-method': 'tools/list' }],
  ['no method', { 'mcp-method': undefined }],
  ['another name', { 'mcp-name': 'other' }],
  ['a name that is not Base64', { 'mcp-name': '=?base64?csOpZ2lvbg=?=' }],
  ['no name', { 'mcp-name': undefined }],
  ['another argument', { 'mcp-param-where': 'us' }],
  ['an argument that is not UTF-8', { 'mcp-param-where': '=?base64?/w==?=' }],
  ['no argument', { 'mcp-param-where': undefined }],
  ['another number', { 'mcp-param-count': '8' }],
])('a request whose headers say %s is refused before the server gets it', async (_what, headers) => {
  const { server, ask } = await start()
  const said = { 'mcp-param-where': 'eu', 'mcp-param-count': '7' }
  const { status, json } = await ask({ where: 'eu', deep: { count: 7 } }, { ...said, ...headers })
  expect([status, json.id, json.error.code]).toEqual([400, 'a', -32020])
  expect(json.error.message).toContain('Header mismatch: ')
  expect(server.received('tools/call')).toEqual([])
})

test('headers that repeat the body in another spelling pass', async () => {
  const { ask } = await start()
  const args = { where: 'ö', deep: { count: 7 } }
  const headers = { 'mcp-param-where': '=?base64?w7Y=?=', 'mcp-param-count': '7.0', 'mcp-param-other': 'x' }
  expect((await ask(args, headers)).status).toBe(200)
  expect((await ask({ where: null }, {})).status).toBe(200)
})

test('a tool that has changed is looked at again before a call is refused', async () => {
  const tools = [...TOOLS]
  const { ask } = await start({ tools })
  expect((await ask({ where: 'eu' }, {})).status).toBe(400)
  tools[0] = { name: 'région', inputSchema: { properties: {} } } as never
  expect((await ask({ where: 'eu' }, {})).status).toBe(200)
})

test.each([
  [-32601, 404],
  [-32020, 400],
  [-32021, 400],
  [-32022, 400],
  [-32602, 200],
  [-32603, 200],
])('the error %i of the server has the status %i', async (code, expected) => {
  for (const accept of ['application/json', 'application/json, text/event-stream']) {
    const { ask } = await start({ response: { error: { code, message: 'no' } } })
    const { status, json } = await ask({}, {}, accept)
    expect([status, json]).toEqual([expected, { jsonrpc: '2.0', id: 'a', error: { code, message: 'no' } }])
  }
})

test.each([
  ['clientCapabilities', -32602],
  ['protocolVersion', -32602],
])('a request without %s is 400', async (member, code) => {
  const { url } = await start()
  const params = modernParams()
  const _meta = Object.fromEntries(Object.entries(params._meta).filter(([name]) => !name.endsWith(member)))
  const answer = await call(url, rpc(1, 'tools/list', { _meta }), modernHeaders('tools/list'))
  expect([answer.status, answer.json.error.code]).toEqual([400, code])
})
