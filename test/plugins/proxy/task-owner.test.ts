import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createTaskOwners } from '../../../plugins/proxy/tasks/task-owners.ts'
import { createTaskTransform } from '../../../plugins/proxy/tasks/task-transform.ts'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import { createPuppet } from './bridge/puppet-server.ts'
import { post, rpc, testProxy, testServer } from './test-proxy.ts'

/** Stands for a login: the header says who calls. */
const login: MiddlewareFactory = async () => ({
  name: 'login',
  stage: 'authenticate',
  wrap: next => exchange => {
    const subject = String(exchange.request.headers['x-user'] ?? '')
    if (subject) exchange.caller = { subject, issuer: 'https://login.test', claims: {} }
    return next(exchange)
  },
})

interface Asked {
  readonly id: number
  readonly method: string
  readonly params?: { readonly taskId?: string }
}

/** What a server does that knows of tasks, and not of callers. */
function taskServer() {
  const tasks: string[] = []
  const asked: string[] = []
  const result = ({ method, params }: Asked): object => {
    asked.push(method)
    if (method === 'initialize') return { protocolVersion: '2025-11-25', capabilities: {} }
    if (method === 'tasks/list') return { tasks: tasks.map(taskId => ({ taskId, status: 'working' })) }
    if (method.startsWith('tasks/')) return { taskId: params?.taskId, status: 'working' }
    if (method !== 'tools/call') return {}
    tasks.push(`task-${tasks.length + 1}`)
    return { task: { taskId: tasks.at(-1), status: 'working' } }
  }
  return { asked, respond: (request: Asked) => ({ jsonrpc: '2.0', id: request.id, result: result(request) }) }
}

type Shape = 'json' | 'stream' | 'gzip'

/** Gives the URL of a proxy before such a server. */
async function httpServer(shape: Shape) {
  const server = taskServer()
  const target = await testServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const text = JSON.stringify(server.respond(JSON.parse(body)))
    if (shape === 'stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      return void response.end(`id: 1\ndata: ${text}\n\n`)
    }
    const headers = { 'content-type': 'application/json' }
    if (shape === 'json') return void response.writeHead(200, headers).end(text)
    return void response.writeHead(200, { ...headers, 'content-encoding': 'gzip' }).end(gzipSync(text))
  })
  const proxy = await testProxy({ target, middlewares: [login] })
  return { url: `${proxy.origin}/mcp`, asked: server.asked }
}

async function stdioServer() {
  const server = taskServer()
  const puppet = createPuppet({ initialize: false })
  const proxy = await testProxy({ config: { transport: 'stdio' }, middlewares: [login] })
  await proxy.connect({ kind: 'stdio', attachment: puppet.attachment })
  puppet.attachment.stdin.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n').filter(Boolean)) {
      const message = JSON.parse(line)
      if (message.id !== undefined) puppet.send(server.respond(message))
    }
  })
  return { url: `${proxy.origin}/mcp`, asked: server.asked }
}

/** The message that a caller gets. */
async function ask(url: string, user: string, body: string) {
  const response = await post(url, body, { 'x-user': user })
  const text = await response.text()
  const json = /^data: (.*)$/m.exec(text)?.[1] ?? text
  return JSON.parse(json) as {
    result?: { task?: { taskId: string }; taskId?: string; tasks?: { taskId: string }[] }
    error?: { code: number; message: string }
  }
}

const create = async (url: string, user: string) =>
  (await ask(url, user, rpc('tools/call', 1, { name: 'slow', task: {} }))).result?.task?.taskId ?? ''

describe.each([
  ['a stdio server', stdioServer],
  ['an HTTP server', () => httpServer('json')],
  ['an HTTP server that streams', () => httpServer('stream')],
])('the tasks of %s', (_, start) => {
  test('are those of the caller that created them: for others there are none', async () => {
    const { url, asked } = await start()
    const [first, second] = [await create(url, 'ada'), await create(url, 'eve')]
    expect([first, second]).toEqual(['task-1', 'task-2'])
    const before = asked.length

    for (const [user, taskId] of [
      ['eve', first],
      ['ada', second],
      ['eve', 'task-9'],
    ] as const) {
      for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update']) {
        const { error } = await ask(url, user, rpc(method, 2, { taskId }))
        expect(error).toEqual({ code: -32602, message: 'Failed to retrieve task: Task not found' })
      }
    }
    const escaped = rpc('tasks/get', 3, { taskId: first }).replaceAll('task', '\\u0074ask')
    expect((await ask(url, 'eve', escaped)).error?.code).toBe(-32602)
    const elsewhere = Buffer.from(rpc('tasks/get', 3, { taskId: first }), 'utf16le')
    const type = { 'content-type': 'application/json; charset=utf-16le', 'x-user': 'eve' }
    expect((await post(url, elsewhere, type)).status).toBe(400)
    expect(asked).toHaveLength(before)

    expect((await ask(url, 'ada', rpc('tasks/get', 4, { taskId: first }))).result?.taskId).toBe(first)
    expect((await ask(url, 'eve', rpc('tasks/cancel', 4, { taskId: second }))).result?.taskId).toBe(second)
  })

  test('are listed for the caller that created them', async () => {
    const { url } = await start()
    for (const user of ['ada', 'eve', 'ada']) await create(url, user)
    const list = async (user: string) =>
      (await ask(url, user, rpc('tasks/list', 5))).result?.tasks?.map(({ taskId }) => taskId)
    expect([await list('ada'), await list('eve'), await list('bob')]).toEqual([
      ['task-1', 'task-3'],
      ['task-2'],
      [],
    ])
  })
})

test('where nobody logs in, tasks are anybody’s', async () => {
  const { url } = await httpServer('json')
  const task = await create(url, '')
  expect((await ask(url, '', rpc('tasks/get', 2, { taskId: task }))).result?.taskId).toBe(task)
})

test('a list of tasks that a server compresses unasked does not reach a caller', async () => {
  const { url } = await httpServer('gzip')
  const response = await post(url, rpc('tasks/list', 1), { 'x-user': 'eve' })
  const text = await response.text().catch(() => '')
  expect([response.status, text]).toEqual([200, ''])
})

describe('a stream is passed on byte by byte', () => {
  const take = (text: string) => (text.includes('none') ? undefined : text.replace('theirs', 'ours'))
  const through = (chunks: string[], isList = false) => {
    const transform = createTaskTransform({ isStream: true, isList, take })
    return [...chunks.map(chunk => Buffer.from(chunk)), undefined]
      .map(chunk => transform(chunk).toString())
      .join('')
  }
  test.each([
    ['cut anywhere', ['da', 'ta: {"task":"th', 'eirs"}\n', '\n'], 'data: {"task":"ours"}\n\n'],
    [
      'with other line ends',
      ['data: {"task":"theirs"}\r\r', 'x: 1\r\n'],
      'data: {"task":"ours"}\r\rx: 1\r\n',
    ],
    ['without an end', ['data: {"task":"theirs"}'], 'data: {"task":"ours"}'],
    ['with what is no message', ['data: a task, none\n'], 'data: a task, none\n'],
    ['but for what is no message and names a task', ['data: none "taskId"\n'], 'data:\n'],
  ])('%s', (_, chunks, expected) => {
    expect(through(chunks)).toBe(expected)
  })
  test('but for what is no message, where a list is expected', () => {
    expect(through(['data: none of task\n'], true)).toBe('data:\n')
  })
})

test('who has many tasks loses their own oldest ones, and nobody else does', () => {
  const owners = createTaskOwners()
  owners.remember('first', 'ada')
  for (let i = 0; i <= 1000; i++) owners.remember(`t${i}`, 'eve')
  owners.remember('first', 'eve')
  const known = [owners.isOf('first', 'ada'), owners.isOf('t0', 'eve'), owners.isOf('t1000', 'eve')]
  expect(known).toEqual([true, false, true])
})

test('a line that comes in many small parts is not read again with each', () => {
  let read = 0
  const take = (text: string) => {
    read += text.length
    return text
  }
  const transform = createTaskTransform({ isStream: true, isList: false, take })
  const part = Buffer.alloc(1024, 'task')
  let length = transform(Buffer.from('data: ')).length
  for (let count = 0; count < 4096; count++) length += transform(part).length
  expect(length).toBe(0)
  expect(transform(Buffer.from('\n')).length).toBe(4096 * 1024 + 'data: \n'.length)
  expect(read).toBe(4096 * 1024)
})
