import { PassThrough } from 'node:stream'
import type { Attachment, Exit } from '../../../../src/contracts/runtime.ts'

export interface Line {
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever is there
  message: any
}

/** A stdio server whose every word the test says itself. */
export interface Puppet {
  readonly attachment: Attachment
  readonly lines: Line[]
  /** The next line (from the first on) that fits and was not taken yet. */
  take(method: string | ((line: Line) => boolean)): Promise<Line>
  received(method: string): Line[]
  send(message: unknown): void
  raw(text: string | Buffer): void
  die(exit?: Exit): void
}

export function createPuppet(
  options: { initialize?: false | Record<string, unknown>; tools?: object[]; deaf?: boolean } = {},
): Puppet {
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const lines: Line[] = []
  const taken = new Set<Line>()
  const waiters = new Set<() => void>()
  let settleExit: (exit: Exit) => void = () => {}
  const exit = new Promise<Exit>(resolve => {
    settleExit = resolve
  })
  const puppet: Puppet = {
    attachment: { stdin, stdout, stderr, exit, detach: () => {} },
    lines,
    async take(wanted) {
      const fits = typeof wanted === 'function' ? wanted : (line: Line) => line.message.method === wanted
      const deadline = AbortSignal.timeout(10_000)
      for (;;) {
        const found = lines.find(line => !taken.has(line) && fits(line))
        if (found) {
          taken.add(found)
          return found
        }
        await new Promise<void>((resolve, reject) => {
          const wake = () => {
            waiters.delete(wake)
            resolve()
          }
          waiters.add(wake)
          deadline.addEventListener('abort', () => reject(new Error(`nothing like ${wanted} came`)), {
            once: true,
          })
        })
      }
    },
    received: method => lines.filter(line => line.message.method === method),
    send: message => puppet.raw(`${JSON.stringify(message)}\n`),
    raw: text => void stdout.write(text),
    die(exitInfo = { code: 1 }) {
      stdout.end()
      settleExit(exitInfo)
    },
  }
  if (options.deaf) return puppet
  let rest = ''
  stdin.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString('utf8')).split('\n')
    rest = parts.pop() ?? ''
    for (const text of parts) {
      const line = { text, message: JSON.parse(text) }
      if (line.message.method === 'initialize' && options.initialize !== false) {
        const result = {
          protocolVersion: '2025-11-25',
          capabilities: {},
          serverInfo: { name: 'puppet', version: '1' },
          ...options.initialize,
        }
        puppet.send({ jsonrpc: '2.0', id: line.message.id, result })
      }
      if (line.message.method === 'tools/list' && options.tools) {
        puppet.send({ jsonrpc: '2.0', id: line.message.id, result: { tools: options.tools } })
      }
      lines.push(line)
      for (const wake of [...waiters]) wake()
    }
  })
  return puppet
}
