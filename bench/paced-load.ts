// Calls URLs at a steady pace, in turns: `node paced-load.ts JSON`, where JSON is a `LoadOrder`. Prints the figures of
// each target as JSON.
//
// Each call is due at a point in time and goes out on a connection that is free, so that a slow answer does not make
// the calls after it fewer. Turns are short, so that what else the machine does weighs on all targets alike.
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import type { Load, LoadOrder, Quantiles } from './paced-run.ts'

const CONNECTIONS = 32
/** Of an event stream, which has no length (RFC 9112, section 7.1). */
const LAST_CHUNK = Buffer.from('0\r\n\r\n')
const order = JSON.parse(process.argv[2] ?? '') as LoadOrder
const plainHeaders = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const plainBody = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'echo', arguments: { message: 'x'.repeat(930) } },
})

/** Processor time that a process has used, in milliseconds: fields 14 and 15 of proc(5) `stat`, in 1/100 s. */
function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function quantilesOf(times: readonly number[]): Quantiles {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

interface Target {
  /** Makes as many calls as are due in one turn; resolves when all are answered. */
  turn(): Promise<void>
  /** What was measured since the last time. */
  take(): Load
  close(): void
}

async function openTarget({
  url: at,
  token,
  headers = plainHeaders,
  body = plainBody,
}: LoadOrder['targets'][number]): Promise<Target> {
  const url = new URL(at)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const request = Buffer.from(
    `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n${lines.join('')}` +
      (token === undefined ? '' : `Authorization: Bearer ${token}\r\n`) +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  )
  const free: (() => void)[] = []
  let times: number[] = []
  /** How many calls there were at the end of each turn. */
  let turnEnds: number[] = []
  let cpu = 0
  let [failed, late] = [0, 0]

  /** A connection that makes one call at a time. */
  function open(): Promise<Socket> {
    const socket = connect(Number(url.port), url.hostname).setNoDelay()
    let [began, head, received] = [0, '', 0]
    const call = () => {
      began = performance.now()
      head = ''
      received = 0
      socket.write(request)
    }
    socket.on('data', chunk => {
      received += chunk.length
      if (!head.includes('\r\n\r\n')) head += chunk.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = /content-length: (\d+)/i.exec(head)?.[1]
      const isOver =
        length === undefined ? chunk.subarray(-5).equals(LAST_CHUNK) : received >= end + 4 + Number(length)
      if (!isOver) return
      if (!head.startsWith('HTTP/1.1 200 ')) failed++
      times.push(performance.now() - began)
      free.push(call)
    })
    return new Promise((resolve, reject) => {
      socket.on('error', reject)
      socket.on('connect', () => {
        free.push(call)
        resolve(socket)
      })
    })
  }
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, open))

  return {
    turn() {
      const before = cpuOf(order.pid)
      const began = performance.now()
      const total = (order.callsPerSecond * order.turnMs) / 1000
      let due = 0
      return new Promise(resolve => {
        function tick(): void {
          const elapsed = performance.now() - began
          for (; due < total && (due * 1000) / order.callsPerSecond <= elapsed; due++) {
            const call = free.shift()
            if (call) call()
            else late++
          }
          if (due < total || free.length < CONNECTIONS) return void setTimeout(tick, 1)
          cpu += cpuOf(order.pid) - before
          turnEnds.push(times.length)
          resolve()
        }
        tick()
      })
    },
    take() {
      const { turnsOfBlock = turnEnds.length } = order
      const ends = turnEnds.filter((_, turn) => (turn + 1) % turnsOfBlock === 0)
      const blocks = ends.map((end, block) => quantilesOf(times.slice(ends[block - 1] ?? 0, end)))
      const cpuOfCall = cpu / times.length
      const load = { ...quantilesOf(times), blocks, cpu: cpuOfCall, total: times.length, failed, late }
      times = []
      turnEnds = []
      ;[cpu, failed, late] = [0, 0, 0]
      return load
    },
    close: () => {
      for (const socket of sockets) socket.removeAllListeners('error').destroy()
    },
  }
}

const targets = await Promise.all(order.targets.map(openTarget))
for (let round = 0; round < order.warmUpTurns + order.turns; round++) {
  if (round === order.warmUpTurns) for (const target of targets) target.take()
  for (const target of round % 2 ? targets : targets.toReversed()) await target.turn()
}
process.stdout.write(`${JSON.stringify(targets.map(target => target.take()))}\n`)
for (const target of targets) target.close()
