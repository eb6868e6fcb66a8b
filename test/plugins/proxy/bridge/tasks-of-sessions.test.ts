import { describe, expect, test } from 'vitest'
import { createPuppet } from './puppet-server.ts'
import { call, open, rpc } from './raw-client.ts'
import { spawnOfficial } from './spawn-server.ts'
import { startBridge } from './start-bridge.ts'

const task = (taskId: string) => ({ taskId, status: 'working', ttl: null })

/** A server that made a task for each of two sessions. */
async function start(capabilities: object = { tasks: { list: {} } }) {
  const server = createPuppet({ initialize: { capabilities } })
  const { url } = await startBridge({ attachment: server.attachment })
  const [a, b] = [await open(url), await open(url)]
  const create = async (taskId: string, headers: Record<string, string>) => {
    const created = call(url, rpc(1, 'tools/call', { name: 't', task: {} }), headers)
    const { message } = await server.take('tools/call')
    server.send({ jsonrpc: '2.0', id: message.id, result: { task: task(taskId) } })
    await created
  }
  await create('of-a', a.headers)
  await create('of-b', b.headers)
  const list = async (headers: Record<string, string> = {}) => {
    const listed = call(url, rpc(2, 'tasks/list'), headers)
    const { message } = await server.take('tasks/list')
    server.send({ jsonrpc: '2.0', id: message.id, result: { tasks: [task('of-a'), task('of-b')] } })
    return (await listed).json.result.tasks.map(({ taskId }: { taskId: string }) => taskId)
  }
  return { server, url, a, b, list }
}

describe('without a login', () => {
  test('a list of tasks has those of the session only', async () => {
    const { a, b, list } = await start()
    expect(await list(a.headers)).toEqual(['of-a'])
    expect(await list(b.headers)).toEqual(['of-b'])
    expect(await list()).toEqual([])
  })

  test.each(['tasks/get', 'tasks/result', 'tasks/cancel'])(
    '%s of a task of another session is refused as for one that is not there',
    async method => {
      const { server, url, a, b } = await start()
      for (const headers of [b.headers, {}]) {
        const refused = await call(url, rpc(3, method, { taskId: 'of-a' }), headers)
        expect(refused.json.error).toEqual({
          code: -32602,
          message: 'Failed to retrieve task: Task not found',
        })
      }
      expect(server.received(method)).toEqual([])
      const own = call(url, rpc(4, method, { taskId: 'of-a' }), a.headers)
      const { message } = await server.take(method)
      server.send({ jsonrpc: '2.0', id: message.id, result: task('of-a') })
      expect((await own).json.result.taskId).toBe('of-a')
    },
  )

  test('a server that declares no tasks is not looked at for any', async () => {
    const { a, list } = await start({})
    expect(await list(a.headers)).toEqual(['of-a', 'of-b'])
  })

  test('server-everything shows a session the task that it has begun, and no other', async () => {
    const server = spawnOfficial('everything', 'stdio')
    const { url } = await startBridge({ attachment: server.attachment })
    const [a, b] = [await open(url, {}, '2025-11-25'), await open(url, {}, '2025-11-25')]
    const begun = await call(
      url,
      rpc(1, 'tools/call', { name: 'simulate-research-query', arguments: { topic: 'x' }, task: {} }),
      a.headers,
    )
    const { taskId } = begun.json.result.task
    const tasks = async (headers: Record<string, string>) =>
      (await call(url, rpc(2, 'tasks/list', {}), headers)).json.result.tasks
    expect(await tasks(a.headers)).toMatchObject([{ taskId }])
    expect(await tasks(b.headers)).toEqual([])
    expect((await call(url, rpc(3, 'tasks/get', { taskId }), b.headers)).json.error.code).toBe(-32602)
    expect((await call(url, rpc(3, 'tasks/get', { taskId }), a.headers)).json.result.taskId).toBe(taskId)
  })
})
