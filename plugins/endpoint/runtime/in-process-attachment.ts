import { PassThrough, Readable, Writable } from 'node:stream'
import type { Attachment, Exit } from '../../../src/contracts/runtime.ts'
import { createFramer } from '../../../src/net/framing.ts'
import type { HostedServer } from './hosted-server.ts'

const LONGEST_LINE = 64 * 2 ** 20

/** The streams of a server that runs in this process. Its end is that of its input, or `end`. */
export function attachInProcess(open: (send: (text: string) => boolean) => HostedServer): Attachment & {
  end(): void
} {
  const exit = Promise.withResolvers<Exit>()
  const stdout = new Readable({ read: () => server.drained() })
  const stderr = new PassThrough()
  const server = open(text => hasEnded || stdout.push(Buffer.from(`${text}\n`, 'latin1')))
  let hasEnded = false

  function end(): void {
    if (hasEnded) return
    hasEnded = true
    server.close()
    stdout.push(null)
    stderr.end()
    exit.resolve({ code: 0 })
  }

  const framer = createFramer({
    maxLine: LONGEST_LINE,
    onLine: line => server.receive(line),
    onOversize: () => undefined,
  })
  const stdin = new Writable({
    write(chunk: Buffer, _encoding, done) {
      framer.push(chunk)
      done()
    },
    final(done) {
      end()
      done()
    },
  })
  return { stdin, stdout, stderr, exit: exit.promise, detach: end, setLogin: server.setLogin, end }
}
