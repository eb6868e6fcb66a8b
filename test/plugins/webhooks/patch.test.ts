import { expect, test } from 'vitest'
import type { JudgedMessage } from '../../../plugins/webhooks/judged-message.ts'
import { patchMessage } from '../../../plugins/webhooks/patch-message.ts'
import { toRaw } from '../../../src/lib/raw-json.ts'
import { readMessage } from '../../../src/net/rpc-message.ts'

const TEXT =
  '{"jsonrpc":"2.0","id":1,"method":"m","params":{"a~b/c":12345678901234567890,"list":[1,2,3],"o":{"p":1.0}}}'

const patch = (...operations: object[]) =>
  patchMessage(readMessage(TEXT) as JudgedMessage, toRaw(JSON.stringify(operations)))
const at = (path: string) => `/mcp_request/params/${path}`
const params = (text: string) => `{"jsonrpc":"2.0","id":1,"method":"m","params":${text}}`

test.each([
  [
    'add',
    [{ op: 'add', path: at('x'), value: 'ü' }],
    '{"a~b/c":12345678901234567890,"list":[1,2,3],"o":{"p":1.0},"x":"ü"}',
  ],
  ['add over', [{ op: 'add', path: at('a~0b~1c'), value: 1 }], '{"a~b/c":1,"list":[1,2,3],"o":{"p":1.0}}'],
  [
    'insert',
    [{ op: 'add', path: at('list/1'), value: null }],
    '{"a~b/c":12345678901234567890,"list":[1,null,2,3],"o":{"p":1.0}}',
  ],
  [
    'append',
    [{ op: 'add', path: at('list/-'), value: {} }],
    '{"a~b/c":12345678901234567890,"list":[1,2,3,{}],"o":{"p":1.0}}',
  ],
  [
    'remove',
    [{ op: 'remove', path: at('list/0') }],
    '{"a~b/c":12345678901234567890,"list":[2,3],"o":{"p":1.0}}',
  ],
  [
    'replace',
    [{ op: 'replace', path: at('o'), value: [] }],
    '{"a~b/c":12345678901234567890,"list":[1,2,3],"o":[]}',
  ],
  [
    'move',
    [{ op: 'move', from: at('o'), path: at('list/0') }],
    '{"a~b/c":12345678901234567890,"list":[{"p":1.0},1,2,3]}',
  ],
  [
    'copy',
    [{ op: 'copy', from: at('a~0b~1c'), path: at('o/q') }],
    '{"a~b/c":12345678901234567890,"list":[1,2,3],"o":{"p":1.0,"q":12345678901234567890}}',
  ],
  [
    'test',
    [
      { op: 'test', path: at('o'), value: { p: 1 } },
      { op: 'remove', path: at('o') },
    ],
    '{"a~b/c":12345678901234567890,"list":[1,2,3]}',
  ],
  [
    'a name of JavaScript',
    [{ op: 'add', path: at('o/__proto__'), value: { x: 1 } }],
    '{"a~b/c":12345678901234567890,"list":[1,2,3],"o":{"p":1.0,"__proto__":{"x":1}}}',
  ],
])('%s', (_name, operations, expected) => {
  expect(patch(...operations)).toMatchObject({ message: { text: toRaw(params(expected)) } })
})

test.each([
  ['another place', { op: 'add', path: '/context/x', value: 1 }],
  ['the whole message', { op: 'replace', path: '/mcp_request', value: {} }],
  ['a source elsewhere', { op: 'copy', from: '/principal', path: at('x') }],
  ['nothing there', { op: 'remove', path: at('none') }],
  ['no parent', { op: 'add', path: at('none/x'), value: 1 }],
  ['a member of a number', { op: 'add', path: at('list/0/x'), value: 1 }],
  ['an index with a zero', { op: 'remove', path: at('list/01') }],
  ['an index past the end', { op: 'add', path: at('list/4'), value: 1 }],
  ['an index below the first', { op: 'replace', path: at('list/-1'), value: 1 }],
  ['the element after the last', { op: 'replace', path: at('list/-'), value: 1 }],
  ['a name of a prototype', { op: 'remove', path: at('constructor') }],
  ['a bad escape', { op: 'add', path: at('~2'), value: 1 }],
  ['no value', { op: 'add', path: at('x') }],
  ['an unknown operation', { op: 'merge', path: at('x'), value: 1 }],
  ['itself', { op: 'move', from: at('o'), path: at('o/p') }],
  ['a failed test', { op: 'test', path: at('list'), value: [1, 2] }],
  ['the id', { op: 'replace', path: '/mcp_request/id', value: 2 }],
  ['the id away', { op: 'remove', path: '/mcp_request/id' }],
  ['the method', { op: 'replace', path: '/mcp_request/method', value: 'n' }],
  ['the version', { op: 'replace', path: '/mcp_request/jsonrpc', value: '1.0' }],
  ['a second spelling', { op: 'add', path: '/mcp_request/Method', value: 'n' }],
  ['a second spelling of a parameter', { op: 'add', path: at('Name'), value: 'n' }],
  ['a path that is no text', { op: 'add', path: 1, value: 1 }],
])('a patch of %s is not applied', (_name, operation) => {
  expect(patch(operation)).toEqual({ problem: expect.any(String) })
})

test('patches that never end, grow or go deep are not applied', () => {
  const doubling = Array.from({ length: 60 }, (_, i) => ({ op: 'copy', from: at('o'), path: at(`o/x${i}`) }))
  expect(patch(...doubling)).toEqual({ problem: 'its patch takes too much work' })
  const many = Array.from({ length: 1001 }, () => ({ op: 'add', path: at('x'), value: 1 }))
  expect(patch(...many)).toEqual({ problem: 'its patch has more than 1000 operations' })
  const deep = at('a/'.repeat(200))
  expect(patch({ op: 'add', path: deep, value: 1 })).toEqual({ problem: expect.stringContaining('a path') })
  const message = readMessage(TEXT) as JudgedMessage
  const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
  const added = `{"op":"add","path":"${at('x')}","value":${nested}}`
  expect(patchMessage(message, `[${added}]`)).toMatchObject({ message: { method: 'm' } })
  const tested = `{"op":"test","path":"${at('x')}","value":${nested}}`
  expect(patchMessage(message, `[${added},${tested}]`)).toEqual({
    problem: expect.stringContaining('deeply'),
  })
  for (const no of ['{}', 'null', '"x"', '[1]', '[{}]']) {
    expect(patchMessage(message, no)).toEqual({ problem: expect.any(String) })
  }
})
