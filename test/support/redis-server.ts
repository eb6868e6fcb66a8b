import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createClient } from '@redis/client'
import { onTestFinished } from 'vitest'
import { freePort } from './free-port.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** Why no Redis can be started here; undefined where it can. */
export const redisProblem = (): string | undefined =>
  spawnSync('redis-server', ['--version']).status === 0 ? undefined : 'redis-server is not installed'

export interface RedisServer {
  readonly port: number
  readonly process: ChildProcess
  /** Ends it and starts it again at the same port, empty. */
  restart(): Promise<void>
  /** Kills it. */
  kill(): Promise<void>
}

/** A real Redis on loopback that keeps nothing on disk and ends with the test. `settings` are lines of its file. */
export async function redisServer(settings: readonly string[] = []): Promise<RedisServer> {
  const isTls = settings.some(line => line.startsWith('tls-cert-file'))
  const { port, file, child } = await startAtFreePort('redis-server', [], port => [
    ...['save ""', 'appendonly no', ...settings],
    ...(isTls ? ['port 0', `tls-port ${port}`] : [`port ${port}`]),
  ])
  let running = child
  onTestFinished(() => void running.kill('SIGKILL'))
  const kill = async () => {
    if (running.exitCode !== null || running.signalCode !== null) return
    running.kill('SIGKILL')
    await once(running, 'exit')
  }
  return {
    port,
    get process() {
      return running
    },
    kill,
    async restart() {
      await kill()
      running = await start('redis-server', [file])
    },
  }
}

/** As `redisServer`, a node of a cluster that has no other nodes and no slots yet. */
export const redisClusterNode = async (settings: readonly string[] = []): Promise<RedisServer> =>
  redisServer(['cluster-enabled yes', `cluster-port ${await freePort()}`, ...settings])

/** A client that ends with the test, for what a test does in Redis itself. */
export async function redisCommands(port: number) {
  const client = createClient({ socket: { host: '127.0.0.1', port } })
  client.on('error', () => undefined) // of servers that a test kills
  await client.connect()
  onTestFinished(() => client.destroy())
  return client
}

/** A real sentinel that watches the primary `main` at that port. */
export async function redisSentinel(primaryPort: number): Promise<{ readonly port: number }> {
  const { port, child } = await startAtFreePort('redis-server', ['--sentinel'], own => [
    `port ${own}`,
    `sentinel monitor main 127.0.0.1 ${primaryPort} 1`,
    'sentinel down-after-milliseconds main 500',
    'sentinel failover-timeout main 2000',
  ])
  onTestFinished(() => void child.kill('SIGKILL'))
  return { port }
}

/** Redis cannot choose a port itself, and a free one may be taken before it listens: then another is tried. */
async function startAtFreePort(
  program: string,
  args: readonly string[],
  lines: (port: number) => readonly string[],
) {
  const folder = await temporaryFolder()
  const file = join(folder, 'redis.conf')
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    await writeFile(file, ['bind 127.0.0.1', `dir ${folder}`, ...lines(port), ''].join('\n'))
    try {
      return { port, file, child: await start(program, [file, ...args]) }
    } catch (error) {
      if (attempt === 5) throw error
    }
  }
}

async function start(program: string, args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const output: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    output.push(line)
    if (!/Ready to accept connections|Sentinel ID is/.test(line)) continue
    child.stdout.resume()
    return child
  }
  throw new Error(`${program} ended: ${output.join('\n')}`)
}
