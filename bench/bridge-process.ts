import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createAvailability } from '../plugins/proxy/availability.ts'
import { createBridge } from '../plugins/proxy/bridge/index.ts'
import { createExchange } from '../plugins/proxy/exchange.ts'
import { respond } from '../plugins/proxy/respond.ts'
import { sendRefusal } from '../plugins/proxy/send-refusal.ts'
import { createIdleMemory } from '../plugins/supervisor/idle-memory.ts'
import type { Exit } from '../src/contracts/runtime.ts'
import { createLog } from '../src/log.ts'
import type { Result } from './result.ts'

const REQUESTS = 10_000
const SESSIONS = 100
/** How long after the flood the memory is measured, and how often it is looked at meanwhile, in milliseconds. */
const [REST_MS, CHECK_MS] = [60_000, 5000]
const here = (file: string) => new URL(file, import.meta.url).pathname

/**
 * Measures in this process, which has the flags of a supervisor, and prints the result as JSON.
 *
 * 10,000 requests in flight to one stdio server, from 100 sessions that all use id 1. The server holds every
 * response until it has all requests, so all of them are in flight at once, and then responds in reverse order.
 */
async function measure(): Promise<Result> {
  const child = spawn(process.execPath, [here('../fixtures/stdio-servers/holds-answers.ts')], {
    env: { PATH: process.env.PATH ?? '', HOLD: String(REQUESTS) },
  })
  const log = createLog({ write: line => void process.stderr.write(line), human: true, debug: false })
  const bridge = createBridge({
    availability: createAvailability({ waitMs: 5000, maxWaiting: 2048 }),
    config: { schema_version: 'v0.1.0', name: 'bench', transport: 'stdio', port: 0 },
    log,
    sessionTtlMs: 60_000,
    publicBase: () => '',
    limits: { requestTimeoutMs: 600_000 },
  })
  const server = createServer((request, response) => {
    const exchange = createExchange(request, response, { refuseBatches: true, maxBytes: 2 ** 23, respond })
    bridge.handle(exchange).catch(error => sendRefusal(exchange, error, log))
  })
  server.listen(0, '127.0.0.1', 16_384)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const exit = once(child, 'exit').then((): Exit => ({}))
  await bridge.connect({
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exit,
    detach: () => {},
  })

  const began = process.cpuUsage()
  const clients = spawn(
    process.execPath,
    [here('bridge-clients.ts'), String(port), String(REQUESTS), String(SESSIONS)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  try {
    let text = ''
    for await (const chunk of clients.stdout) text += chunk
    const { answered, lost, swapped, busy, errors, seconds } = JSON.parse(text)
    const { user, system } = process.cpuUsage(began)
    const peak = process.resourceUsage().maxRSS / 1000
    const memory = createIdleMemory()
    for (let rested = 0; rested < REST_MS; rested += CHECK_MS) {
      await delay(CHECK_MS)
      memory.check()
    }
    return {
      name: 'bridge',
      conditions:
        'bridge and HTTP server in this process, clients and stdio server in one each; no core pinned',
      measured: answered,
      figures: {
        'requests in flight at once': REQUESTS,
        'sessions, all with request id 1': SESSIONS,
        answered,
        'lost (bound: 0)': lost,
        'swapped (bound: 0)': swapped,
        'errors other than 503 (bound: 0)': errors,
        'explicit 503': busy,
        'seconds until all were answered': seconds,
        'ms of CPU for a call, with its connection (goal: 0.15)': ((user + system) / 1000 / REQUESTS).toFixed(
          3,
        ),
        'MB resident at most (goal: 250)': peak,
        'MB resident a minute later (goal: 120)': process.memoryUsage.rss() / 1e6,
      },
      ok: lost + swapped + errors === 0 && answered + busy === REQUESTS,
    }
  } finally {
    await bridge.close()
    child.kill()
    clients.kill()
    server.closeAllConnections()
    server.close()
  }
}

process.stdout.write(JSON.stringify(await measure()))
process.exit()
