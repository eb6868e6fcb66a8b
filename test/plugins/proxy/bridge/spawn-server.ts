import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import type { Attachment, Exit } from '../../../../src/contracts/runtime.ts'

const root = new URL('../../../../', import.meta.url).pathname

export interface Spawned {
  readonly attachment: Attachment
  kill(): Promise<void>
}

/** A stdio server as a child process. */
export function spawnServer(args: readonly string[], env: Record<string, string> = {}): Spawned {
  const child = spawn(process.execPath, args, { cwd: root, env: { PATH: process.env.PATH ?? '', ...env } })
  const exit = once(child, 'exit').then(([code]): Exit => (code === null ? {} : { code }))
  const kill = async () => {
    child.kill('SIGKILL')
    await exit
  }
  onTestFinished(kill)
  return {
    attachment: { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exit, detach: () => {} },
    kill,
  }
}

export const spawnFixture = (name: string, env?: Record<string, string>): Spawned =>
  spawnServer([`${root}fixtures/stdio-servers/${name}.ts`], env)

/** One of the official servers. */
export const spawnOfficial = (name: 'everything' | 'memory' | 'filesystem', ...args: string[]): Spawned =>
  spawnServer([`${root}node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, ...args])
