import fs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'

// Preloaded into a program: kills it hard just before its nth call that changes a file (KILL_AT=n). A write
// of content first writes half of it, as a kill in the middle would.

const kill = () => process.kill(process.pid, 'SIGKILL')
let left = Number(process.env.KILL_AT)
const isTurn = () => --left === 0

const files = createRequire(import.meta.url)('node:fs/promises') as Record<string, unknown>
const CHANGING = [
  'mkdir',
  'mkdtemp',
  'rename',
  'rm',
  'rmdir',
  'chmod',
  'copyFile',
  'open',
  'writeFile',
  'link',
]
for (const name of CHANGING) {
  const original = files[name] as (...args: unknown[]) => Promise<unknown>
  files[name] = async (...args: unknown[]) => {
    if (isTurn()) kill()
    const result = await original(...args)
    if (name === 'open') spoilWrites(result as fs.promises.FileHandle)
    return result
  }
}

function spoilWrites(handle: fs.promises.FileHandle): void {
  const write = handle.writeFile.bind(handle)
  handle.writeFile = async (data: Parameters<typeof write>[0], ...rest) => {
    if (!isTurn()) return write(data, ...rest)
    const bytes = Buffer.from(data as Buffer | string)
    fs.writeSync(handle.fd, bytes.subarray(0, bytes.length / 2))
    return kill() as never
  }
}

syncBuiltinESMExports()
