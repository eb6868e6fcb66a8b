import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { runTunnel } from '../../../plugins/proxy-command/tunnel/run-tunnel.ts'
import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isPortFree } from '../../../src/lib/ports.ts'
import { createLog } from '../../../src/log.ts'

const CONFIG: RunConfig = {
  schema_version: 'v0.1.0',
  name: 'notes',
  transport: 'streamable-http',
  port: 0,
  remote_url: 'http://127.0.0.1:1/',
}

/** A proxy that does nothing but listen. */
const proxies = {
  async open({ port }: RunConfig) {
    const server = createServer().listen({ port, host: '127.0.0.1', exclusive: true })
    await once(server, 'listening')
    return {
      url: `http://127.0.0.1:${port}/mcp`,
      connect: async () => undefined,
      close: async () => void server.close(),
    }
  },
}

test('nobody else can listen at the port of a tunnel while it opens, is open or closes', async () => {
  const interrupt = new AbortController()
  const wasFree: boolean[] = []
  const app = {
    log: createLog({ write: () => undefined, human: false, debug: false }),
    service: async () => proxies,
  }

  await runTunnel(app as unknown as App, CONFIG, {
    tunnel: {
      intent: 'open nothing',
      async open(port) {
        const look = async () => void wasFree.push(await isPortFree(port))
        await look()
        return { origins: ['https://notes.example'], ended: new Promise(() => undefined), close: look }
      },
    },
    middlewares: [],
    signal: interrupt.signal,
    onUp: () => interrupt.abort(),
  })

  expect(wasFree).toEqual([false, false])
})
