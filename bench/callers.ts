import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Result } from './result.ts'

const KINDS = ['checked', 'unchecked'] as const
type Kind = (typeof KINDS)[number]

const here = (file: string) => new URL(file, import.meta.url).pathname
const children: ChildProcess[] = []

async function start(file: string, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [here(file), ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return String(line)
}

/** Connects, asks for the health once and waits for the answer. */
async function ask(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setNoDelay()
  socket.write(`GET /health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
  const [answer] = await once(socket, 'data')
  if (!String(answer).startsWith('HTTP/1.1 200 ')) throw new Error(`not answered: ${answer}`)
  return socket
}

/** Milliseconds of new connections, one after the other. */
async function newConnections(port: number, count: number): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const began = performance.now()
    const socket = await ask(port)
    times.push(performance.now() - began)
    socket.resetAndDestroy()
  }
  return times
}

const at = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN

/**
 * What it costs to find out whose a new connection is: with 10 and with 5,000 connections open, and in requests
 * on connections that stay. Both kinds take turns, so that they meet the same machine.
 */
export async function run(): Promise<Result> {
  const figures: Record<string, number> = {}
  const added: number[] = []
  try {
    const target = `http://127.0.0.1:${await start('proxy-backend.ts')}`
    const ports: Record<Kind, number> = {
      checked: Number(await start('proxy-process.ts', target, '1')),
      unchecked: Number(await start('proxy-process.ts', target, '1', 'unchecked')),
    }
    for (const kind of KINDS) await newConnections(ports[kind], 50)
    const open: Socket[] = []
    for (const count of [10, 5000]) {
      while (open.length < count) open.push(...(await Promise.all(Array.from({ length: 10 }, () => ask(ports.unchecked)))))
      const times: Record<Kind, number[]> = { checked: [], unchecked: [] }
      for (let round = 0; round < 5; round++) {
        for (const kind of KINDS) times[kind].push(...(await newConnections(ports[kind], 60)))
      }
      for (const kind of KINDS) {
        figures[`ms p50 of a new connection, ${kind}, ${count} open`] = at(times[kind], 0.5)
        figures[`ms p99 of a new connection, ${kind}, ${count} open`] = at(times[kind], 0.99)
      }
      added.push(at(times.checked, 0.5) - at(times.unchecked, 0.5))
    }
    for (const socket of open) socket.resetAndDestroy()

    const rates: Record<Kind, number[]> = { checked: [], unchecked: [] }
    for (let round = 0; round < 6; round++) {
      for (const kind of KINDS) {
        const line = await start('proxy-load.ts', `http://127.0.0.1:${ports[kind]}/mcp`, '32', '2')
        if (round > 0) rates[kind].push(JSON.parse(line).requestsPerSecond)
      }
    }
    const ratio = at(rates.checked, 0.5) / at(rates.unchecked, 0.5)
    return {
      name: 'whose a connection is',
      figures: {
        ...figures,
        'ms added to a new connection, 10 open (at most 5)': added[0] ?? Number.NaN,
        'ms added to a new connection, 5000 open (at most 30)': added[1] ?? Number.NaN,
        '% of the requests/s on connections that stay (at least 95)': ratio * 100,
      },
      ok: (added[0] ?? 9) <= 5 && (added[1] ?? 99) <= 30 && ratio >= 0.95,
    }
  } finally {
    for (const child of children) child.kill()
  }
}
