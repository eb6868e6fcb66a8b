import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { InstanceEvent } from '../../src/contracts/runtime.ts'
import { aborted, createFakeRuntime, echo, type FakeProgram, scriptedServer } from './fake-runtime.ts'
import { instanceSpec } from './instance-spec.ts'
import { runtimeContract } from './runtime-contract.ts'

const programs: Record<string, FakeProgram> = {
  echo,
  sleep: async ({ stdout, term }) => {
    stdout.write('ready\n')
    await aborted(term)
    return 143
  },
  'ignore-term': async ({ stdout, over }) => {
    stdout.write('ready\n')
    await aborted(over)
    return 0
  },
  'exit-7': async () => 7,
  'print-env': async ({ spec, stdout }) => {
    for (const [name, value] of Object.entries(spec.env)) stdout.write(`${name}=${value}\0`)
    return 0
  },
  lines: async ({ stdout, stderr, term }) => {
    for (const n of [1, 2, 3, 4, 5]) stdout.write(`line ${n}\n`)
    await delay(1)
    stderr.write('oops\n')
    await aborted(term)
    return 143
  },
  http: async ({ ports, term, over }) => {
    const server = createServer((_, response) => response.end('hello'))
    server.listen(ports[0]?.hostPort, ports[0]?.address)
    await Promise.race([aborted(term), aborted(over)])
    server.close()
    server.closeAllConnections()
    return 143
  },
}

runtimeContract('fake', () => createFakeRuntime({ programs }), {
  program: kind => ({ image: kind, args: [] }),
  without: ['files', 'eat-memory'],
  processes: false,
})

const spec = (name: string, image: string) => instanceSpec({ name, image, stdio: true })

test('a scripted server responds by its table', async () => {
  const server = scriptedServer({ initialize: { serverInfo: { name: 'scripted' } } })
  const runtime = createFakeRuntime({ programs: { server } })
  await runtime.create(spec('s', 'server'))
  const { stdin, stdout } = await runtime.attach('s')

  stdin.write('{"jsonrpc":"2.0","id":1,"method":"initialize"}\n{"jsonrpc":"2.0","id":"x","method":"no"}\n')
  stdin.end()
  const answers = (await stdout.setEncoding('utf8').toArray())
    .join('')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))

  expect(answers).toEqual([
    { jsonrpc: '2.0', id: 1, result: { serverInfo: { name: 'scripted' } } },
    { jsonrpc: '2.0', id: 'x', error: { code: -32601, message: 'Method not found' } },
  ])
  expect(server.received.map(request => request.method)).toEqual(['initialize', 'no'])
})

test('a runtime that goes away breaks streams, watchers and calls, and comes back with its instances', async () => {
  const runtime = createFakeRuntime({ programs: { echo } })
  const events = runtime.watch(new AbortController().signal)
  await runtime.create(spec('e', 'echo'))
  const { exit } = await runtime.attach('e')

  runtime.goAway()

  expect(await exit).toEqual({ reason: 'the runtime went away' })
  const seen: InstanceEvent[] = []
  for await (const event of events) seen.push(event)
  expect(seen.at(-1)).toEqual({ kind: 'gone' })
  await expect(runtime.list()).rejects.toMatchObject({ code: 'runtime_unavailable' })
  runtime.comeBack()
  expect(await runtime.list()).toHaveLength(1)
})
