import { createServer } from 'node:net'

/** Whether a TCP port can be listened on at this address now. */
export function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise(resolve => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)))
  })
}

const LOW = 10_000
/** From 32768 on (49152 on macOS) the system takes ports for outgoing connections: one could hold the port of a stopped workload. */
const HIGH = 32_767

/** A free port from 10000 to 32767: ten random tries, then upwards from a random start. */
export async function findFreePort(host = '127.0.0.1', random: () => number = Math.random): Promise<number> {
  const pick = () => LOW + Math.floor(random() * (HIGH - LOW + 1))
  for (let attempt = 0; attempt < 10; attempt++) {
    const port = pick()
    if (await isPortFree(port, host)) return port
  }
  const start = pick()
  for (let step = 0; step <= HIGH - LOW; step++) {
    const port = LOW + ((start - LOW + step) % (HIGH - LOW + 1))
    if (await isPortFree(port, host)) return port
  }
  throw new Error(`no free port from ${LOW} to ${HIGH} on ${host}`)
}
