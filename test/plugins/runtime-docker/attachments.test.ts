import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { execa } from 'execa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createContainerRuntime, ownerOf } from '../../../plugins/runtime-docker/container-runtime.ts'
import type { Dialect } from '../../../plugins/runtime-docker/dialect.ts'
import { dockerDialect } from '../../../plugins/runtime-docker/docker-dialect.ts'
import { engineProblem } from '../../support/engine-problem.ts'
import { instanceSpec } from '../../support/instance-spec.ts'
import { allNeed } from '../../support/left-out.ts'
import { readUntil } from '../../support/runtime-contract.ts'

const IMAGE = 'keelson-test/busybox:1'
const MB = 2 ** 20

/** A runtime with a stdio instance that runs a script of the shell. */
async function instanceOf(dialect: Dialect, script: string) {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-attach-'))
  const runtime = createContainerRuntime({ dialect, owner: ownerOf(folder), env: { ...process.env }, folder })
  const name = `kt-${randomBytes(5).toString('hex')}`
  onTestFinished(async () => {
    await runtime.remove(name)
    await rm(folder, { recursive: true, force: true })
  })
  await runtime.create(instanceSpec({ name, image: IMAGE, args: ['sh', '-c', script], stdio: true }))
  return { runtime, name }
}

/** Commands of the programs that this process has started and that hold the streams of an instance. */
async function attachedPrograms(): Promise<string[]> {
  const found: string[] = []
  for (const pid of (await readdir('/proc')).filter(entry => /^\d+$/.test(entry))) {
    const [stat, command] = await Promise.all(
      ['stat', 'cmdline'].map(file => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
    )
    const parent = stat?.slice(stat.lastIndexOf(')')).split(' ')[2]
    if (Number(parent) === process.pid && command?.includes('--attach')) found.push(command)
  }
  return found
}

/** An engine's socket that responds to each path, by its end, with a status and a body. `attach` upgrades with 101. */
async function openSocket(responses: Readonly<Record<string, readonly [status: number, body?: string]>>) {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-socket-'))
  const calls: string[] = []
  const find = (url = '') => {
    const verb = /\/containers\/\w+\/(\w+)/.exec(url)?.[1]
    if (verb !== undefined) calls.push(verb)
    return responses[verb ?? ''] ?? [404, '']
  }
  const server = createServer((request, response) => {
    const [status, body] = find(request.url)
    response.writeHead(status).flushHeaders()
    if (body !== undefined) response.end(body)
  })
  server.on('upgrade', (request, socket) => {
    const [status] = find(request.url)
    const isUpgraded = status === 101
    socket.write(
      `HTTP/1.1 ${status} x\r\n${isUpgraded ? 'Connection: Upgrade\r\nUpgrade: tcp\r\n' : 'Content-Length: 0\r\n'}\r\n`,
    )
    if (!isUpgraded) socket.end()
  })
  const path = join(folder, 'engine.sock')
  server.listen(path)
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await rm(folder, { recursive: true, force: true })
  })
  return { path, calls }
}

describe.each([
  ['its socket', dockerDialect],
  ['its program', { ...dockerDialect, socket: () => undefined }],
] as const)('streams of docker through %s', { timeout: 120_000 }, (_title, dialect) => {
  allNeed(engineProblem('docker', IMAGE))

  test('standard output and error are kept apart', async () => {
    const { runtime, name } = await instanceOf(
      dialect,
      'for i in 1 2 3; do echo out $i; echo err $i >&2; done',
    )
    const { stdout, stderr } = await runtime.attach(name)
    expect(await Promise.all([text(stdout), text(stderr)])).toEqual([
      'out 1\nout 2\nout 3\n',
      'err 1\nerr 2\nerr 3\n',
    ])
  })

  test('what comes after the end of its input arrives, and the exit code after that', async () => {
    const { runtime, name } = await instanceOf(dialect, 'cat >/dev/null; echo late; exit 5')
    const { stdin, stdout, exit } = await runtime.attach(name)
    stdin.end('some input')
    expect(await text(stdout)).toBe('late\n')
    expect(await exit).toMatchObject({ code: 5 })
  })

  test('100 MB each way arrive whole, also for a reader that comes late', async () => {
    const { runtime, name } = await instanceOf(dialect, 'cat')
    const { stdin, stdout, exit } = await runtime.attach(name)
    const [sent, received] = [createHash('sha256'), createHash('sha256')]
    const parts = Array.from({ length: 100 }, () => randomBytes(MB))
    for (const part of parts) sent.update(part)
    const writing = pipeline(Readable.from(parts), stdin)
    // The input of the instance fills up first: it writes to an output that nobody reads.
    while (stdin.writableLength === 0) await new Promise(resolve => setImmediate(resolve))
    let bytes = 0
    for await (const chunk of stdout) {
      bytes += chunk.length
      received.update(chunk)
    }
    await writing
    expect(bytes).toBe(100 * MB)
    expect(received.digest('hex')).toBe(sent.digest('hex'))
    expect(await exit).toMatchObject({ code: 0 })
  })

  test('an instance that is killed while it speaks has ended', async () => {
    const { runtime, name } = await instanceOf(dialect, 'while :; do echo line; done')
    const { stdout, exit } = await runtime.attach(name)
    stdout.resume()
    await execa('docker', ['kill', name])
    expect(await exit).toMatchObject({ code: 137 })
  })

  test('an instance that floods an output which nobody reads can be stopped', async () => {
    const { runtime, name } = await instanceOf(dialect, 'exec yes 0123456789')
    const { stdout, exit } = await runtime.attach(name)
    let before = -1
    await expect
      .poll(
        () => {
          const isFull = stdout.readableLength > 0 && stdout.readableLength === before
          before = stdout.readableLength
          return isFull
        },
        { interval: 300, timeout: 30_000 },
      )
      .toBe(true)
    await runtime.stop(name, { graceSeconds: 0 })
    expect((await runtime.inspect(name))?.state).toBe('exited')
    stdout.resume()
    expect(await exit).toMatchObject({ code: expect.any(Number) })
  })

  test('letting go ends its input', async () => {
    const { runtime, name } = await instanceOf(dialect, 'echo ready; cat; exit 3')
    const { stdout, exit, detach } = await runtime.attach(name)
    await readUntil(stdout, 'ready')
    detach()
    await exit
    await expect.poll(() => runtime.inspect(name), { timeout: 60_000 }).toMatchObject({ exitCode: 3 })
  })
})

describe('the socket of docker', { timeout: 60_000 }, () => {
  allNeed(engineProblem('docker', IMAGE))

  test('holds the streams without a program', async () => {
    const { runtime, name } = await instanceOf(dockerDialect, 'echo ready; cat')
    const { stdout } = await runtime.attach(name)
    await readUntil(stdout, 'ready')
    expect(await attachedPrograms()).toEqual([])
  })

  test.each([
    ['of another engine', { attach: [404], wait: [404] }],
    ['that gives no connection', { attach: [403], wait: [200] }],
    ['that does not wait', { attach: [101], wait: [400] }],
  ] as const)('a socket %s is left for the program, which starts the instance', async (_title, responses) => {
    const { path, calls } = await openSocket(responses as never)
    const { runtime, name } = await instanceOf({ ...dockerDialect, socket: () => path }, 'echo ready; cat')
    const { stdout } = await runtime.attach(name)
    await readUntil(stdout, 'ready')
    expect(calls.sort()).toEqual(['attach', 'wait'])
    expect(await attachedPrograms()).toHaveLength(1)
  })

  test('a socket that is not there, or that this user may not open, is left for the program', async () => {
    const { runtime, name } = await instanceOf(
      { ...dockerDialect, socket: () => '/nowhere/docker.sock' },
      'echo ready; cat',
    )
    await readUntil((await runtime.attach(name)).stdout, 'ready')
  })

  test('a refused start fails in the words of the engine, of which only the beginning is read', async () => {
    const words = 'no such thing '.repeat(1_000_000)
    const { path, calls } = await openSocket({
      attach: [101],
      wait: [200],
      start: [500, JSON.stringify({ message: words })],
    })
    const { runtime, name } = await instanceOf({ ...dockerDialect, socket: () => path }, 'cat')
    const failure = await runtime.attach(name).catch(error => error)
    expect(failure).toMatchObject({
      code: 'runtime_failed',
      message: expect.stringContaining('no such thing'),
    })
    expect(failure.message.length).toBeLessThan(1000)
    expect(calls.at(-1)).toBe('start')
    expect((await runtime.inspect(name))?.state).toBe('created')
  })
})
