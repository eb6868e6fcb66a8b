import { isPortFree } from '../../src/lib/ports.ts'

// From 61000 on Linux gives no port to outgoing connections, and the program chooses none there.
const LOW = 61_000
const PORTS_OF_A_WORKER = 1100
const WORKERS = 4

const worker = (Number(process.env.VITEST_POOL_ID ?? 1) - 1) % WORKERS
let next = Math.floor(Math.random() * PORTS_OF_A_WORKER)

/**
 * A free TCP port for what cannot choose one itself. Two calls never return the same port, and no other
 * worker and no program under test takes it before the test listens on it.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let tries = 0; tries < PORTS_OF_A_WORKER; tries++) {
    const port = LOW + worker * PORTS_OF_A_WORKER + (next++ % PORTS_OF_A_WORKER)
    if (await isPortFree(port, host)) return port
  }
  throw new Error(`no port of worker ${worker + 1} is free on ${host}`)
}
