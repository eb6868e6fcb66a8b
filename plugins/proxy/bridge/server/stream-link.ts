import { setTimeout as delay } from 'node:timers/promises'
import type { Attachment, Exit } from '../../../../src/contracts/runtime.ts'
import { createFramer } from '../../../../src/net/framing.ts'
import type { ServerLink } from './server-link.ts'

/** How long to wait for the end of the output after the exit, or the other way round, in milliseconds. */
const OUTPUT_DRAIN_MS = 1000

/** The standard streams of a server process, on which each message is a line. */
export function createStreamLink(attachment: Attachment): ServerLink {
  const { stdin, stdout, stderr, exit } = attachment
  let release = () => {}
  let isCorked = false

  /**
   * Holds back what is written in the rest of this turn of the event loop, so that it leaves in one write. The line
   * before that has gone already: one that comes alone waits for nothing.
   */
  function gatherLines(): void {
    if (isCorked) return
    isCorked = true
    stdin.cork()
    setImmediate(() => {
      isCorked = false
      stdin.uncork()
    })
  }

  async function untilEnd(ended: Promise<void>): Promise<string> {
    let known: Exit | undefined
    const exited = exit.then(exit => {
      known = exit
    })
    await Promise.race([exited, ended])
    await Promise.race([Promise.all([exited, ended]), delay(OUTPUT_DRAIN_MS, undefined, { ref: false })])
    return describe(known)
  }

  return {
    get queued() {
      return stdin.writableLength
    },
    open({ limits: { maxLine }, flow, onMessage, onOversize, onEnd }) {
      const framer = createFramer({ maxLine, onLine: line => onMessage(line), onOversize })
      const ended = new Promise<void>(resolve => {
        const end = () => resolve()
        stdout.once('end', end).once('close', end).once('error', end)
      })
      release = flow.control(stdout)
      // What is left in the pipe is little, and its end has to be seen.
      void exit.then(release)
      stdout.on('data', (chunk: Buffer) => framer.push(chunk)).once('end', () => framer.end())
      // The end of the output reports a broken pipe too. An `error` event without a listener would end the supervisor.
      for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {})
      // The runtime keeps the logs. Reading keeps the pipe from filling up.
      stderr.resume()
      void untilEnd(ended).then(onEnd)
    },
    send(text) {
      stdin.write(`${text}\n`, 'latin1')
      gatherLines()
    },
    close() {
      release()
      attachment.detach()
    },
  }
}

function describe(exit: Exit | undefined): string {
  if (exit?.reason) return `the server ended: ${exit.reason}`
  return exit?.code === undefined
    ? 'the server closed its output'
    : `the server ended with exit code ${exit.code}`
}
