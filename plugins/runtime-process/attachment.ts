import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import { constants } from 'node:os'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import type { Attachment, Exit } from '../../src/contracts/runtime.ts'

/** The streams of a child with pipes. Its standard error also goes to the log. */
export function toAttachment(
  child: ChildProcess,
  { exit, log }: { exit: Promise<Exit>; log: Writable },
): Attachment {
  const { stdin, stdout, stderr } = child
  if (!stdin || !stdout || !stderr) throw new Error('a process without pipes')
  // Node drops what is unread on a child's own stream when the child ends.
  const kept = stdout.pipe(new PassThrough())
  const said = tee(stderr, log)
  return {
    stdin,
    stdout: kept,
    stderr: said,
    exit,
    // The pipes end with this process. Until then they are read, so that the server does not block.
    detach() {
      kept.resume()
      said.resume()
      child.unref()
      for (const stream of [stdin, stdout, stderr]) if (stream instanceof Socket) stream.unref()
    },
  }
}

/** A slow reader of the copy does not block the server; the log, which keeps everything, can. */
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
