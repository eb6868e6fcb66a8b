import { expect, test } from 'vitest'
import { createModernHeaders } from '../../../src/net/modern-headers.ts'
import { type Request, readMessage } from '../../../src/net/rpc-message.ts'

const VERSION = '2026-07-28'

const call = (name: string, values: Record<string, unknown>): Request => {
  const params = { name, arguments: values }
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  return readMessage(Buffer.from(text).toString('latin1')) as Request
}

/** A list of one tool whose arguments all have headers. */
const listOf = (name: string, count: number): string => {
  const properties = Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`a${i}`, { type: 'string', 'x-mcp-header': `A${i}` }]),
  )
  return JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools: [{ name, inputSchema: { properties } }] } })
}

const bytesOf = (headers: Record<string, string>): number =>
  Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0)

test('arguments that the schema marks are repeated in headers', () => {
  const headers = createModernHeaders()
  headers.learn(listOf('t', 2))

  expect(headers.of(call('t', { a0: 'x', a1: 'ü' }), VERSION)).toEqual({
    'mcp-protocol-version': VERSION,
    'mcp-method': 'tools/call',
    'mcp-name': 't',
    'mcp-param-a0': 'x',
    'mcp-param-a1': '=?base64?w7w=?=',
  })
})

test('what is too long for a head is left out, however many arguments a tool has', () => {
  const headers = createModernHeaders()
  headers.learn(listOf('t', 5000))
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`a${i}`, 'x'.repeat(300)]))

  const sent = headers.of(call('t', many), VERSION)
  const huge = headers.of(call('t', { a0: 'x'.repeat(1_000_000), a1: 'y' }), VERSION)

  expect(sent['mcp-param-a0']).toHaveLength(300)
  expect(bytesOf(sent)).toBeLessThan(10_000)
  expect(Object.keys(huge)).not.toContain('mcp-param-a0')
  expect(huge['mcp-param-a1']).toBe('y')
})

test('a server that lists ever more tools makes the oldest forgotten', () => {
  const headers = createModernHeaders()
  for (let i = 0; i < 1001; i++) headers.learn(listOf(`t${i}`, 1))

  expect(headers.of(call('t0', { a0: 'x' }), VERSION)).not.toHaveProperty('mcp-param-a0')
  expect(headers.of(call('t1000', { a0: 'x' }), VERSION)).toHaveProperty('mcp-param-a0')
})

test('a tool with an invalid annotation is left out of its list, and all else stays as it was written', () => {
  const tool = (name: string, header: string) =>
    `{ "name":"${name}", "inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":${header}}}},"n":1.0}`
  const list = (tools: string) =>
    `{"jsonrpc":"2.0", "id":1,"result":{"x":1E2,"tools":[${tools}] ,"y":"\\u00fc"}}`
  const told: string[] = []

  const headers = createModernHeaders()
  const text = headers.learn(list(`${tool('bad', '"a b"')},${tool('good', '"A"')}`), (name, problem) =>
    told.push(`${name}: ${problem}`),
  )

  expect(text).toBe(list(tool('good', '"A"')))
  expect(told).toEqual(['bad: the header of "a" is not the name of a header'])
  expect(headers.of(call('good', { a: 'x' }), VERSION)).toHaveProperty('mcp-param-a', 'x')
})
