// A process with a pipeline of its own: takes a run config, then `{count}`, and says how calls ended.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createExchange } from '../../../plugins/proxy/exchange.ts'
import { respond } from '../../../plugins/proxy/respond.ts'
import { sendRefusal } from '../../../plugins/proxy/send-refusal.ts'
import { createLimitMiddleware } from '../../../plugins/rate-limit/limit-middleware.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { createLog } from '../../../src/log.ts'

const log = createLog({ write: line => void process.stderr.write(`${line}\n`), human: false, debug: false })
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a' } })

process.once('message', async config => {
  const limit = await createLimitMiddleware(config as RunConfig, { log, env: {} })
  const handle = limit.wrap(({ response }) => void response.end('{}'))
  const server = createServer(async (request, response) => {
    const exchange = createExchange(request, response, { refuseBatches: true, maxBytes: 2 ** 23, respond })
    try {
      await handle(exchange)
    } catch (error) {
      sendRefusal(exchange, error, log)
    }
  })
  server.listen(0, '127.0.0.1', () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    process.on('message', async ({ count }: { count: number }) => {
      const statuses: Record<number, number> = {}
      const made = Array.from({ length: count }, async () => {
        const response = await fetch(url, { method: 'POST', body })
        await response.arrayBuffer()
        statuses[response.status] = (statuses[response.status] ?? 0) + 1
      })
      await Promise.all(made)
      process.send?.(statuses)
    })
    process.send?.({})
  })
})
