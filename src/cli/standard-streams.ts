import { fstatSync, writeSync } from 'node:fs'
import type { CliContext } from './base-command.ts'
import type { Output } from './output.ts'

type Streams = Pick<CliContext, 'stdin' | 'stdout' | 'stderr' | 'out'>

/** The standard streams of this process. Node opens each when it is first used, which takes longer than most commands. */
export function standardStreams(): Streams {
  let guardsStdout = false
  let guardsStderr = false
  let out: Output | undefined
  const streams: Streams = {
    get stdin() {
      return process.stdin
    },
    get stdout() {
      if (!guardsStdout) process.stdout.on('error', endAtClosedPipe)
      guardsStdout = true
      return process.stdout
    },
    get stderr() {
      // The terminal is gone; the work under way is still finished.
      if (!guardsStderr) process.stderr.on('error', () => {})
      guardsStderr = true
      return process.stderr
    },
    get out() {
      out ??= isDevice(1) ? streams.stdout : withoutStream(1, () => streams.stdout)
      return out
    },
  }
  return streams
}

/** Whether a descriptor may be a terminal. */
export const isDevice = (descriptor: number): boolean => fstatSync(descriptor).isCharacterDevice()

/** A reader that has seen enough (`| head`) ends us quietly. */
function endAtClosedPipe(error: Error): never {
  if ('code' in error && error.code === 'EPIPE') process.exit(0)
  throw error
}

/** Writes to a file, a pipe or a socket as Node does, that is at once. The stream writes what does not fit in a pipe now. */
function withoutStream(descriptor: number, stream: () => Output): Output {
  let isFull = false
  return {
    write(text) {
      if (isFull) return stream().write(text)
      const bytes = Buffer.from(text)
      let at = 0
      try {
        while (at < bytes.length) at += writeSync(descriptor, bytes, at)
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) {
          return endAtClosedPipe(error as Error)
        }
        isFull = true
        return stream().write(bytes.subarray(at))
      }
      return true
    },
  }
}
