import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Connect, ToolResult } from './era-client.ts'

/** Clients of an SDK of another language. One process holds all of them. */
export interface ClientProcess {
  readonly connect: Connect
  kill(): void
}

interface Line {
  readonly id?: number
  readonly result?: unknown
  readonly error?: { code?: number; message: string; data?: unknown }
  readonly client?: number
  readonly method?: string
  readonly params?: Record<string, unknown>
}

/** Starts a program that takes orders as `fixtures/eras/python-client.py` describes them. */
export function startClientProcess(program: string, args: readonly string[]): ClientProcess {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  const heard: Line[] = []
  let last = 0
  createInterface({ input: child.stdout }).on('line', text => {
    const line: Line = JSON.parse(text)
    const request = waiting.get(line.id ?? 0)
    if (!request) heard.push(line)
    else if (line.error) request.reject(Object.assign(new Error(line.error.message), line.error))
    else request.resolve(line.result)
  })
  const ask = <T>(client: number, what: string, details: object): Promise<T> =>
    new Promise((resolve, reject) => {
      const id = ++last
      waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
      child.stdin.write(`${JSON.stringify({ id, client, do: what, with: details })}\n`)
    })
  return {
    async connect(revision, url, over) {
      const client = ++last
      await ask(client, 'open', { url: url.href, over, revision })
      return {
        call(name, args = {}, { signal, progress = false } = {}) {
          const label = ++last
          signal?.addEventListener('abort', () => void ask(client, 'cancel', { label }).catch(() => {}))
          return ask<ToolResult>(client, 'call', { name, args, progress, label })
        },
        toolNames: () => ask(client, 'toolNames', {}),
        complete: value => ask(client, 'complete', { value }),
        watch: what => ask(client, 'watch', { what }),
        wantLogs: () => ask(client, 'wantLogs', {}),
        heard: method =>
          heard.flatMap(line =>
            line.client === client && line.method === method ? [line.params ?? {}] : [],
          ),
        cutNextStream: () => {
          throw new Error('the connections of this client cannot be cut')
        },
        close: () => ask(client, 'close', {}),
      }
    },
    kill: () => child.kill('SIGKILL'),
  }
}
