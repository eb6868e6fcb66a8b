import type { Readable, Writable } from 'node:stream'
import { serveHost } from './serve-host.ts'

/** What runs in the helper. */
export default (input: Readable, output: Writable): Promise<void> =>
  serveHost(input, output, { onEnd: () => process.exit() })
