import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { INITIALIZE, initialize } from './initialize.ts'
import { scriptServer, startOwnSupervisor } from './own-supervisor.ts'
import { residentMb } from './proc.ts'
import type { Result } from './result.ts'

const MIB = 2 ** 20
/** What docs/bridge.md promises: of all bodies together, and of one line of a server. */
const [MOST_BODIES_MIB, MOST_LINE_MIB] = [256, 32]
/** A body may be in memory three times while it is checked and passed on, a line as bytes and as what was read. */
const COPIES = 3
/** The callers are addresses of this host. One caller gets half of the room, the next one half of the rest. */
const [CALLERS, CALLS] = [6, 20]
const BODY_BYTES = 8 * MIB - 1024
const SETTLE_MS = 8000

/** A stdio server that never responds to the tool `hold`, and writes twice the longest line for the tool `line`. */
const SERVER = `const say=o=>process.stdout.write(JSON.stringify(o)+'\\n');require('readline').createInterface({input:process.stdin}).on('line',async l=>{const id=/"id":("[^"]*"|\\d+)/.exec(l.slice(0,200)+l.slice(-200));if(!id||l.includes('"name":"hold"'))return;const own=JSON.parse(id[1]);if(!l.includes('"name":"line"'))return say({jsonrpc:'2.0',id:own,result:{protocolVersion:'2025-11-25',capabilities:{},serverInfo:{name:'held',version:'1'}}});for(let i=0;i<64;i++)await new Promise(r=>process.stdout.write('x'.repeat(${MIB}),r));process.stdout.write('\\n');say({jsonrpc:'2.0',id:own,result:{}})})`

const bodyOf = (name: string, padding: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { padding } } })

/** Sends a call from an address of this host. Resolves with its status, and with undefined when `over` aborts. */
function send(port: number, body: string, { from, over }: { from: string; over: AbortSignal }) {
  return new Promise<number | undefined>(resolve => {
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const options = { host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers, localAddress: from }
    const sent = request(options, response => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', () => resolve(undefined))
    over.addEventListener('abort', () => sent.destroy())
    sent.end(body)
  })
}

/** The most that the supervisor of the built program holds of long requests, and of a long line of a server. */
export async function run(): Promise<Result> {
  const supervisor = await startOwnSupervisor()
  try {
    const { port } = await supervisor.add(scriptServer(SERVER), 'held')
    await initialize(`http://127.0.0.1:${port}/mcp`)
    const before = residentMb(supervisor.pid).now
    const over = new AbortController()
    await send(port, bodyOf('line', ''), { from: '127.0.0.1', over: over.signal })
    const afterLine = residentMb(supervisor.pid).most
    const body = bodyOf('hold', 'x'.repeat(BODY_BYTES - INITIALIZE.length))
    let refused = 0
    const calls = Array.from({ length: CALLERS * CALLS }, async (_, index) => {
      const status = await send(port, body, { from: `127.0.0.${2 + (index % CALLERS)}`, over: over.signal })
      if (status === 503) refused += 1
    })
    await delay(SETTLE_MS)
    const held = ((CALLERS * CALLS - refused) * body.length) / MIB
    const most = residentMb(supervisor.pid).most
    over.abort()
    await Promise.all(calls)
    const [lineMb, bodiesMb] = [MOST_LINE_MIB, MOST_BODIES_MIB].map(mib => (COPIES * mib * MIB) / 1e6)
    return {
      name: 'memory that strangers can fill',
      conditions: `the built program; ${CALLERS} callers with ${CALLS} calls of 8 MiB each, which the server holds`,
      measured: CALLERS * CALLS,
      figures: {
        'MB resident before': before,
        [`MB more for a line of ${2 * MOST_LINE_MIB} MiB (at most ${lineMb})`]: afterLine - before,
        [`MiB of bodies that were held (at most ${MOST_BODIES_MIB})`]: held,
        'calls refused with 503': refused,
        [`MB more for these bodies (at most ${bodiesMb})`]: most - before,
      },
      ok:
        held <= MOST_BODIES_MIB &&
        refused > 0 &&
        afterLine - before <= Number(lineMb) &&
        most - before <= Number(bodiesMb),
    }
  } finally {
    await supervisor.close()
  }
}
