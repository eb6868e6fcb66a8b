import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { dockerDialect } from '../../../plugins/runtime-docker/docker-dialect.ts'
import { createEngineFacts } from '../../../plugins/runtime-docker/engine-facts.ts'
import { podmanDialect } from '../../../plugins/runtime-podman/podman-dialect.ts'

const INFO = JSON.stringify({ NCPU: 2, HttpProxy: 'http://user:hunter2@proxy.example:3128' })

/** An engine that responds to pings, and commands of a user that ask it for its version. */
async function openEngine() {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-facts-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const socket = join(folder, 'engine.sock')
  let status = 200
  const listen = async () => {
    const server = createServer((_request, response) => response.writeHead(status).end())
    onTestFinished(() => void server.close())
    await once(server.listen(socket), 'listening')
    return server
  }
  let server = await listen()
  let asked = 0
  return {
    folder,
    file: join(folder, 'docker-facts.json'),
    /** What one command gets; each has a memory of its own. */
    get: (env: Record<string, string> = {}) =>
      createEngineFacts({ dialect: { ...dockerDialect, socket: () => socket }, env, folder }).get(
        ['info'],
        async () => {
          asked += 1
          return INFO
        },
      ),
    asked: () => asked,
    respondWith: (next: number) => {
      status = next
    },
    stop: () => new Promise(resolve => server.close(resolve)),
    start: async () => {
      server = await listen()
    },
  }
}

test('what an engine told one command the next one knows, without the password of its proxy', async () => {
  const engine = await openEngine()
  expect(await engine.get()).toBe(INFO)
  expect(JSON.parse(await engine.get())).toEqual({ NCPU: 2 })
  expect(engine.asked()).toBe(1)
  expect(await readFile(engine.file, 'utf8')).not.toContain('hunter2')
})

test('an engine that has started again is asked again', async () => {
  const engine = await openEngine()
  await engine.get()
  await engine.stop()
  await engine.start()
  await engine.get()
  expect(engine.asked()).toBe(2)
})

test('an engine that has ended, or responds with an error, is asked again', async () => {
  const engine = await openEngine()
  await engine.get()
  engine.respondWith(500)
  await engine.get()
  await engine.stop()
  await engine.get()
  expect(engine.asked()).toBe(3)
})

test('another program in the PATH is asked again', async () => {
  const engine = await openEngine()
  await engine.get()
  await engine.get({ PATH: '/elsewhere' })
  expect(engine.asked()).toBe(2)
})

test('an engine is asked again after a minute, and where the clock was set back', async () => {
  const engine = await openEngine()
  for (const minutes of [-1.1, 1.1]) {
    await engine.get()
    const kept = JSON.parse(await readFile(engine.file, 'utf8'))
    await writeFile(engine.file, JSON.stringify({ ...kept, at: Date.now() + minutes * 60_000 }))
  }
  await engine.get()
  expect(engine.asked()).toBe(3)
})

test('a folder that others may write to is not trusted, nor a file that is none of ours', async () => {
  const engine = await openEngine()
  await engine.get()
  await chmod(engine.folder, 0o777)
  await engine.get()
  await chmod(engine.folder, 0o700)
  await writeFile(engine.file, '{"engine": 1}')
  await engine.get()
  expect(engine.asked()).toBe(3)
})

test('an engine without a daemon is asked again when its program was replaced, and always when it is remote', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-facts-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const program = join(folder, 'podman')
  let asked = 0
  const ask = (env: Record<string, string> = {}) =>
    createEngineFacts({ dialect: podmanDialect, env: { PATH: folder, ...env }, folder }).get(
      ['info'],
      async () => {
        asked += 1
        return INFO
      },
    )
  await writeFile(program, 'first', { mode: 0o755 })
  await ask()
  await ask()
  expect(asked).toBe(1)
  await writeFile(program, 'the second')
  await ask()
  expect(asked).toBe(2)
  await ask({ CONTAINER_HOST: 'ssh://elsewhere' })
  await ask({ CONTAINER_HOST: 'ssh://elsewhere' })
  expect(asked).toBe(4)
})
