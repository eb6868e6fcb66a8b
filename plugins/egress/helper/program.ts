import type { Readable, Writable } from 'node:stream'
import { serve } from './serve.ts'

/** What runs in the helper. */
export default (input: Readable, output: Writable): Promise<void> =>
  serve(input, output, { onEnd: () => process.exit() })
