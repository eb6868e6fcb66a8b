import { Duplex } from 'node:stream'
import { programText } from '../../../src/lib/program-text.ts'
import type { EngineCli } from '../engine-cli.ts'

const BOOT = programText('plugins/runtime-docker/programs/run-from-input.cjs')

/** Runs a program in a running helper. Returns its standard streams, whose closing ends it. */
export function runInHelper(cli: EngineCli, name: string, program: string): Duplex {
  const call = cli.open(['exec', '--interactive', name, 'node', '--no-warnings', '--eval', BOOT])
  let words = ''
  call.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-500)
  })
  const streams = Duplex.from({ readable: call.stdout, writable: call.stdin })
  streams.once('close', call.kill)
  void call.ended.then(() =>
    streams.destroy(words ? new Error(`the helper ended: ${words.trim()}`) : undefined),
  )
  const bytes = Buffer.from(program)
  streams.write(`${bytes.length}\n`)
  streams.write(bytes)
  return streams
}
