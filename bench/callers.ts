import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { cpuMs } from './proc.ts'
import type { Result } from './result.ts'

const KINDS = ['checked', 'unchecked'] as const
type Kind = (typeof KINDS)[number]

const here = (file: string) => new URL(file, import.meta.url).pathname
const children: ChildProcess[] = []

async function start(file: string, ...args: string[]): Promise<{ line: string; pid: number }> {
  const child = spawn(process.execPath, [here(file), ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { line: String(line), pid: child.pid ?? 0 }
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
    const target = `http://127.0.0.1:${(await start('proxy-backend.ts')).line}`
    const proxies = {
      checked: await start('proxy-process.ts', target, '1'),
      unchecked: await start('proxy-process.ts', target, '1', 'unchecked'),
    }
    const ports = { checked: Number(proxies.checked.line), unchecked: Number(proxies.unchecked.line) }
    for (const kind of KINDS) await newConnections(ports[kind], 50)
    const open: Socket[] = []
    for (const count of [10, 5000]) {
      while (open.length < count)
        open.push(...(await Promise.all(Array.from({ length: 10 }, () => ask(ports.unchecked)))))
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

    const costs: Record<Kind, number[]> = { checked: [], unchecked: [] }
    for (let round = 0; round < 6; round++) {
      for (const kind of KINDS) {
        const before = cpuMs(proxies[kind].pid)
        const { line } = await start('proxy-load.ts', `http://127.0.0.1:${ports[kind]}/mcp`, '32', '2')
        const used = cpuMs(proxies[kind].pid) - before
        if (round > 0) costs[kind].push((used * 1000) / JSON.parse(line).total)
      }
    }
    const [checked, unchecked] = [at(costs.checked, 0.5), at(costs.unchecked, 0.5)]
    return {
      name: 'whose a connection is',
      conditions: 'proxies, server and load in a process each; no core pinned; both kinds take turns',
      measured: costs.checked.length,
      figures: {
        ...figures,
        'ms added to a new connection, 10 open (at most 5)': added[0] ?? Number.NaN,
        'ms added to a new connection, 5000 open (at most 40)': added[1] ?? Number.NaN,
        'µs of CPU for a request on a connection that stays, checked': checked,
        'µs of CPU for a request on a connection that stays, unchecked (at least 90 %)': unchecked,
      },
      ok: (added[0] ?? 9) <= 5 && (added[1] ?? 99) <= 40 && unchecked >= checked * 0.9,
    }
  } finally {
    for (const child of children) child.kill()
  }
}
