import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import { textOf, untilSent } from '../../e2e/clients.ts'
import { openHome, until } from '../../e2e/home.ts'
import { main } from '../../support/main.ts'
import { askingServer } from './asking-server.ts'
import { stdioClient } from './stdio-client.ts'

const ROUNDS = 5

/** Calls the tool and answers the question that comes for it. */
async function callAndAnswer(client: ReturnType<typeof stdioClient>, id: number): Promise<void> {
  client.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'ask' } })
  const question = await client.take(message => message.method === 'elicitation/create')
  client.send({ jsonrpc: '2.0', id: question.id, result: { action: 'accept' } })
  expect(await client.response(id)).toMatchObject({ result: { content: [{ text: 'accept' }] } })
}

test('a question of the first call after the handshake is heard', async () => {
  const server = await askingServer()
  for (let round = 0; round < ROUNDS; round++) {
    const client = stdioClient(server.url)
    await client.initialize()
    await callAndAnswer(client, 1)
  }
  expect(server.unheard).toBe(0)
})

test.each(['cut', 'restart'] as const)('a question of the first call after a %s is heard', async what => {
  const server = await askingServer()
  const client = stdioClient(server.url)
  await client.initialize()
  await callAndAnswer(client, 0)
  for (let round = 1; round <= ROUNDS; round++) {
    server[what]()
    await until(() => expect(server.streams).toBe(0))
    await callAndAnswer(client, round)
  }
  expect({ unheard: server.unheard, sessions: server.sessions }).toEqual({
    unheard: 0,
    sessions: what === 'restart' ? ROUNDS + 1 : 1,
  })
})

test('the built program hears questions right after its supervisor was killed, and after the server forgot it', async () => {
  const home = await openHome()
  onTestFinished(() => home.close())
  const server = await askingServer()
  await home.ok(['run', server.url, '--name', 'asking'])
  const client = new Client({ name: 'e2e', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept' as const, content: {} }))
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: ['--', main, 'proxy', 'stdio', 'asking'],
      env: home.env,
    }),
  )
  onTestFinished(() => client.close())
  const call = async () => textOf(await client.callTool({ name: 'ask', arguments: {} }))
  expect(await call()).toBe('accept')

  const before = await home.supervisor()
  process.kill(before, 'SIGKILL')
  expect(await untilSent(call)).toBe('accept')
  expect(await home.supervisor()).not.toBe(before)

  server.restart()
  await until(() => expect(server.streams).toBe(0))
  expect(await call()).toBe('accept')
  expect(server.unheard).toBe(0)
})
