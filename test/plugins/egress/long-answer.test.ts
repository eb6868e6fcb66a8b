import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { egressWorld, listenOn } from './egress-world.ts'

// From a length on, an answer goes past the parser: nothing of it may show that.

const LENGTH = 3_000_000
const bytes = randomBytes(LENGTH)
const digest = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex')

/** Answers every request on a connection with these bytes, whatever they say of themselves. */
async function rawServer(
  answer: (count: number) => { head: string; parts: readonly Uint8Array[]; close?: boolean },
): Promise<number> {
  let count = 0
  const server = createTcpServer(socket => {
    socket.on('error', () => undefined)
    socket.on('data', async () => {
      const { head, parts, close } = answer(count++)
      socket.write(head)
      for (const part of parts) if (!socket.write(part)) await once(socket, 'drain')
      if (close) socket.destroySoon()
    })
  })
  return listenOn(server)
}

const headOf = (length: number) => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`

async function through(originPort: number) {
  const { port } = await egressWorld({
    network: { outbound: { allow_host: ['127.0.0.1'], allow_port: [originPort] } },
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  return async (method = 'GET'): Promise<IncomingMessage> => {
    const outgoing = request({
      agent,
      method,
      host: '127.0.0.1',
      port,
      path: `http://127.0.0.1:${originPort}/`,
      headers: { Host: `127.0.0.1:${originPort}` },
    }).end()
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
    return answer
  }
}

test('it arrives whole, time after time on one connection of the client', async () => {
  const get = await through(await rawServer(() => ({ head: headOf(LENGTH), parts: [bytes] })))
  for (let time = 0; time < 3; time++) {
    const answer = await get()
    expect(answer.headers['content-length']).toBe(String(LENGTH))
    expect(digest(await buffer(answer))).toBe(digest(bytes))
  }
})

test('a client that reads slowly loses nothing', async () => {
  const get = await through(await rawServer(() => ({ head: headOf(LENGTH), parts: [bytes] })))
  const answer = await get()
  const parts: Buffer[] = []
  for await (const part of answer) {
    parts.push(part)
    await new Promise(setImmediate)
  }
  expect(digest(Buffer.concat(parts))).toBe(digest(bytes))
})

test('bytes beyond the announced length are dropped', async () => {
  const more = Buffer.concat([bytes, Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad')])
  const get = await through(
    await rawServer(count =>
      count === 0
        ? { head: headOf(LENGTH), parts: [more] }
        : { head: headOf(4), parts: [Buffer.from('good')] },
    ),
  )
  expect(digest(await buffer(await get()))).toBe(digest(bytes))
})

test('a response that breaks off breaks off for the client', async () => {
  const half = bytes.subarray(0, LENGTH / 2)
  const get = await through(await rawServer(() => ({ head: headOf(LENGTH), parts: [half], close: true })))
  await expect(get().then(buffer)).rejects.toThrow('aborted')
})

test('a short response follows a long one, and a long one a short one', async () => {
  const short = Buffer.from('short')
  const get = await through(
    await rawServer(count =>
      count % 2 ? { head: headOf(LENGTH), parts: [bytes] } : { head: headOf(5), parts: [short] },
    ),
  )
  expect((await buffer(await get())).toString()).toBe('short')
  expect(digest(await buffer(await get()))).toBe(digest(bytes))
})

test('a HEAD request gets no body of a long response', async () => {
  const get = await through(await rawServer(() => ({ head: headOf(LENGTH), parts: [] })))
  const answer = await get('HEAD')
  expect(answer.headers['content-length']).toBe(String(LENGTH))
  expect(await buffer(answer)).toHaveLength(0)
})

test('a client that disconnects stops the server', async () => {
  const isGone = Promise.withResolvers<void>()
  const server = createTcpServer(socket => {
    socket.on('error', () => undefined).once('close', () => isGone.resolve())
    socket.once('data', () => socket.write(headOf(2 ** 31)) && socket.write(bytes))
  })
  const get = await through(await listenOn(server))
  ;(await get()).destroy()
  await isGone.promise
})
