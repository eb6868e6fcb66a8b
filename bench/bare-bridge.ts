// The least that a bridge to a stdio server has to do: it reads each request, gives it an id of its own and returns the
// response to whoever sent it. `node bare-bridge.ts PROGRAM ARGUMENT...` prints its port.
import { spawn } from 'node:child_process'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

const [program = '', ...args] = process.argv.slice(2)
const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
const waiting = new Map<number, { id: unknown; response: ServerResponse }>()
let last = 0

createInterface({ input: child.stdout }).on('line', line => {
  const message = JSON.parse(line)
  const { id, response } = waiting.get(message.id) ?? {}
  waiting.delete(message.id)
  response?.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'bare' })
  response?.end(JSON.stringify({ ...message, id }))
})

const server = createServer(async (request, response) => {
  const message = JSON.parse(await text(request))
  last += 1
  waiting.set(last, { id: message.id, response })
  child.stdin.write(`${JSON.stringify({ ...message, id: last })}\n`)
})
process.on('SIGTERM', () => {
  child.kill()
  process.exit()
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
