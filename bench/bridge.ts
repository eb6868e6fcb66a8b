import { spawn } from 'node:child_process'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { NODE_FLAGS } from '../plugins/supervisor/launch-supervisor.ts'
import type { Result } from './result.ts'

/** Measures the bridge in a process with the flags of a supervisor, which decide how much memory it takes. */
export async function run(): Promise<Result> {
  const program = fileURLToPath(new URL('bridge-process.ts', import.meta.url))
  const child = spawn(process.execPath, [...NODE_FLAGS, program], { stdio: ['ignore', 'pipe', 'inherit'] })
  return (await json(child.stdout)) as Result
}
