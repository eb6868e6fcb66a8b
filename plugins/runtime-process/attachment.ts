import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import { constants } from 'node:os'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import type { Attachment, Exit } from '../../src/contracts/runtime.ts'

/** The streams of a child with pipes; what it says on standard error goes to the log as well. */
export function toAttachment(
  child: ChildProcess,
  { exit, log }: { exit: Promise<Exit>; log: Writable },
): Attachment {
  const { stdin, stdout, stderr } = child
  if (!stdin || !stdout || !stderr) throw new Error('a process without pipes')
  // Node throws away what is unread on a child's own stream when the child ends.
  const kept = stdout.pipe(new PassThrough())
  const said = tee(stderr, log)
  return {
    stdin,
    stdout: kept,
    stderr: said,
    exit,
    // The pipes end with this process; until then what comes is taken, so that the server is not held up.
    detach() {
      kept.resume()
      said.resume()
      child.unref()
      for (const stream of [stdin, stdout, stderr]) if (stream instanceof Socket) stream.unref()
    },
  }
}

/** The reader of the copy cannot hold the server up; the log, which keeps all, can. */
function tee(source: Readable, log: Writable): Readable {
  const copy = new PassThrough()
  source.on('data', (chunk: Buffer) => {
    if (!copy.writableNeedDrain) copy.write(chunk)
  })
  source.on('end', () => copy.end())
  log.on('error', () => source.resume()) // a full disk must not stop the server
  source.pipe(log)
  return copy
}

/** How a process ended. One ended by a signal counts as shells count. */
export function describeExit(code: number | null, signal: NodeJS.Signals | null): Exit {
  if (code !== null) return { code }
  if (!signal) return {}
  return { code: 128 + constants.signals[signal], reason: `it was ended by ${signal}` }
}
