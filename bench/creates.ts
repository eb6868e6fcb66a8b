import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import type { Result } from './result.ts'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const servers = fileURLToPath(new URL('../fixtures/upgrades', import.meta.url))
const path = '/api/v1beta/workloads'
const ROUNDS = 3
const POLL_MS = 50
const LONGEST_MS = 180_000

/** What is created: a server in a container of an image that is there, and one that runs elsewhere. */
const KINDS = {
  docker: { image: 'keelson-test/node:24', cmd_arguments: ['node', '/srv/versioned-server.mjs'] },
  remote: { url: 'http://127.0.0.1:9/mcp' },
} as const

/** Creates that are sent to `serve` at once: until each is answered, and until none of the servers is starting. */
export async function run(): Promise<Result> {
  const figures: Record<string, number> = {}
  for (const kind of Object.keys(KINDS) as (keyof typeof KINDS)[]) {
    for (const count of [8, 20]) {
      const rounds: { answered: number; up: number }[] = []
      for (let i = 0; i < ROUNDS; i++) rounds.push(await createAtOnce(kind, count))
      const best = (of: 'answered' | 'up') => Math.min(...rounds.map(round => round[of]))
      figures[`${count} creates (${kind}), s until all are answered`] = best('answered')
      figures[`${count} creates (${kind}), s until all have started`] = best('up')
    }
  }
  return {
    name: 'creates',
    conditions: `serve in a process of its own, which has answered once; best of ${ROUNDS} rounds; no core pinned`,
    measured: ROUNDS,
    figures,
    ok: true, // these are no bounds: an engine takes its time
  }
}

async function createAtOnce(
  kind: keyof typeof KINDS,
  count: number,
): Promise<{ answered: number; up: number }> {
  const home = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--rate-limit', '0'], {
    env: { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: join(home, 'run') },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const dispatcher = new Agent({ connections: count })
  try {
    const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const ask = async (method: 'GET' | 'POST', where: string, body?: object): Promise<unknown> => {
      const options = { method, dispatcher, ...(body ? { body: JSON.stringify(body) } : {}) }
      const response = await request(`${url}${where}`, options)
      const text = await response.body.text()
      if (response.statusCode >= 300) throw new Error(`${method} ${where}: ${response.statusCode} ${text}`)
      return text === '' ? undefined : JSON.parse(text)
    }
    const statuses = async () =>
      ((await ask('GET', `${path}?all=true`)) as { workloads: { status: string }[] }).workloads.map(
        workload => workload.status,
      )
    await statuses()

    const volumes = kind === 'docker' ? { volumes: [`${servers}:/srv:ro`] } : {}
    const names = Array.from({ length: count }, (_, i) => `creates-${process.pid}-${i}`)
    const start = performance.now()
    await Promise.all(names.map(name => ask('POST', path, { name, ...KINDS[kind], ...volumes })))
    const answered = performance.now() - start
    await until(async () => !(await statuses()).includes('starting'))
    const up = performance.now() - start

    await ask('POST', `${path}/delete`, { names })
    await until(async () => (await statuses()).length === 0)
    return { answered: toSeconds(answered), up: toSeconds(up) }
  } finally {
    child.kill('SIGTERM')
    await once(child, 'exit')
    await dispatcher.close()
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LONGEST_MS
  while (!(await isDone())) {
    if (performance.now() > deadline) throw new Error(`not done after ${LONGEST_MS} ms`)
    await delay(POLL_MS)
  }
}

const toSeconds = (ms: number): number => Math.round(ms) / 1000
