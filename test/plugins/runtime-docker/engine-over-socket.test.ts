import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createContainerRuntime } from '../../../plugins/runtime-docker/container-runtime.ts'
import { dockerDialect } from '../../../plugins/runtime-docker/docker-dialect.ts'
import { fakeProgram } from '../../support/fake-program.ts'

type Respond = (response: ServerResponse, request: IncomingMessage) => void

const say = (status: number, body: unknown): Respond => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return response => void response.writeHead(status).end(text)
}

/** An engine with a socket, of which the program knows an image that the socket does not know. */
async function openEngine(given: { socketId?: string; image?: Respond; events?: Respond } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-over-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'engine.sock')
  const missing = say(404, { message: 'No such image: some/image:1' })
  const { socketId = 'own', image = missing, events = missing } = given
  const paths: Readonly<Record<string, Respond>> = {
    '/_ping': say(200, 'OK'),
    '/info': say(200, { ID: socketId }),
    '/images/some%2Fimage%3A1/json': image,
    '/events': events,
  }
  const server = createServer((request, response) => {
    const respond = paths[request.url?.split('?')[0] ?? ''] ?? missing
    respond(response, request)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(path), 'listening')
  const asked = join(folder, 'asked')
  await writeFile(asked, '')
  const env = await fakeProgram(
    'docker',
    `echo "$1" >> ${asked}\ncase $1 in info) echo '{"ID": "own"}';; image) echo '[{}]';; events) sleep 1000;; esac`,
  )
  const runtime = createContainerRuntime({
    dialect: { ...dockerDialect, socket: () => path },
    ...{ owner: 'test', env, folder },
  })
  return {
    runtime,
    /** Whether there is the image, and what the program was asked for to know it. */
    async has() {
      const found = await runtime.images?.has('some/image:1')
      const calls = (await readFile(asked, 'utf8')).split('\n').filter(call => call && call !== 'info')
      return [found, calls.join(' ')]
    },
  }
}

test('what the engine says over its socket counts', async () => {
  const engine = await openEngine()
  expect(await engine.has()).toEqual([false, ''])
})

test('a socket of another engine than that of the program is not asked', async () => {
  const engine = await openEngine({ socketId: 'another' })
  expect(await engine.has()).toEqual([true, 'image'])
})

test.each([
  ['a way that it does not know', say(404, { message: 'page not found' })],
  ['another place', say(301, '')],
  ['words that are not of the API', say(500, 'nonsense')],
  ['a connection that breaks', (response: ServerResponse) => void response.destroy()],
  [
    'a response that breaks off',
    (response: ServerResponse) => {
      response.writeHead(200, { 'content-length': 1000 }).write('[')
      setImmediate(() => response.destroy())
    },
  ],
] as const)('the program is asked where the socket gives %s', async (_title, image) => {
  expect(await (await openEngine({ image })).has()).toEqual([true, 'image'])
})

test('a refusal is explained as that of the program', async () => {
  const engine = await openEngine({ image: say(500, { message: 'its disk is full' }) })
  await expect(engine.has()).rejects.toMatchObject({
    code: 'runtime_failed',
    message: expect.stringContaining('its disk is full'),
  })
})

test('the events of an engine that goes away end with "gone"', async () => {
  const event = {
    Action: 'start',
    Actor: { Attributes: { name: 'one', keelson: 'true', 'keelson-owner': 'test' } },
  }
  const engine = await openEngine({
    events(response) {
      response.write(`${JSON.stringify(event)}\n`)
      setTimeout(() => response.destroy(), 50)
    },
  })
  const kinds: string[] = []
  for await (const { kind } of engine.runtime.watch(new AbortController().signal)) kinds.push(kind)
  expect(kinds).toEqual(['started', 'gone'])
})

test('nobody listens to events after the end of a watch', async () => {
  const closed = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  const engine = await openEngine({
    events(response) {
      response.flushHeaders()
      opened.resolve()
      response.on('close', closed.resolve)
    },
  })
  const stop = new AbortController()
  const seen: unknown[] = []
  const watching = (async () => {
    for await (const event of engine.runtime.watch(stop.signal)) seen.push(event)
  })()
  await opened.promise
  stop.abort()
  await watching
  expect(seen).toEqual([])
  await closed.promise
})
