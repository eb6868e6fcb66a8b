import { setTimeout as delay } from 'node:timers/promises'
import type { Attachment, Exit } from '../../../../src/contracts/runtime.ts'
import { createFramer } from '../../../../src/net/framing.ts'
import type { BridgeLimits } from '../bridge-limits.ts'
import type { ServerFlow } from '../clients/flow-control.ts'

/** The connection to a server process. After a crash it is opened again with the next process. */
export interface Connection {
  /** Why no server is connected; undefined while one is. */
  readonly problem: string | undefined
  /** Bytes the server has not read yet. */
  readonly queued: number
  /** How many lines were sent to the connected process. */
  readonly sent: number
  /** Resolves when the connected process has responded to a request, or sent any other response. */
  readonly responded: Promise<void>
  /** Called for each response of the process. */
  noteResponse(): void
  /** Sends one line. False when no server is connected or too much waits: nothing was sent. */
  write(text: string): boolean
  open(attachment: Attachment): void
  close(reason: string): void
}

/** How long to wait for the end of the output after the exit, or the other way round, in milliseconds. */
const OUTPUT_DRAIN_MS = 1000

export function createConnection(options: {
  limits: BridgeLimits
  flow: ServerFlow
  onLine: (line: string) => void
  onOversize: (head: string, tail: string, bytes: number) => void
  /** `wanted`: the bridge closed the connection, and the process did not end by itself. */
  onGone: (reason: string, options: { wanted: boolean }) => void
}): Connection {
  const { limits, flow, onLine, onOversize, onGone } = options
  let current: Attachment | undefined
  let release = () => {}
  let problem: string | undefined = 'the server has not started yet'
  let sent = 0
  let isCorked = false
  let responded = Promise.withResolvers<void>()

  function drop(attachment: Attachment, reason: string, { wanted }: { wanted: boolean }): void {
    if (current !== attachment) return
    current = undefined
    problem = reason
    release()
    attachment.detach()
    onGone(reason, { wanted })
  }

  /**
   * Holds back what is written in the rest of this turn of the event loop, so that it leaves in one write. The line
   * before that has gone already: one that comes alone waits for nothing.
   */
  function gatherLines({ stdin }: Attachment): void {
    if (isCorked) return
    isCorked = true
    stdin.cork()
    setImmediate(() => {
      isCorked = false
      stdin.uncork()
    })
  }

  async function watch(attachment: Attachment, ended: Promise<void>): Promise<void> {
    let exit: Exit | undefined
    const exited = attachment.exit.then(known => {
      exit = known
    })
    await Promise.race([exited, ended])
    await Promise.race([Promise.all([exited, ended]), delay(OUTPUT_DRAIN_MS, undefined, { ref: false })])
    drop(attachment, describe(exit), { wanted: false })
  }

  return {
    get problem() {
      return problem
    },
    get queued() {
      return current?.stdin.writableLength ?? 0
    },
    get sent() {
      return sent
    },
    get responded() {
      return responded.promise
    },
    noteResponse: () => responded.resolve(),
    write(text) {
      if (!current || current.stdin.writableLength > limits.maxQueuedBytes) return false
      current.stdin.write(`${text}\n`, 'latin1')
      gatherLines(current)
      sent += 1
      return true
    },
    open(attachment) {
      if (current) drop(current, 'the server was replaced', { wanted: true })
      current = attachment
      problem = undefined
      sent = 0
      responded = Promise.withResolvers()
      const { stdin, stdout, stderr } = attachment
      const framer = createFramer({
        maxLine: limits.maxLine,
        onLine: line => {
          if (current === attachment) onLine(line)
        },
        onOversize,
      })
      const ended = new Promise<void>(resolve => {
        const end = () => resolve()
        stdout.once('end', end).once('close', end).once('error', end)
      })
      release = flow.control(stdout)
      // What is left in the pipe is little, and its end has to be seen.
      void attachment.exit.then(release)
      stdout.on('data', (chunk: Buffer) => framer.push(chunk)).once('end', () => framer.end())
      // The end of the output reports a broken pipe too. An `error` event without a listener would end the supervisor.
      for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {})
      // The runtime keeps the logs. Reading keeps the pipe from filling up.
      stderr.resume()
      void watch(attachment, ended)
    },
    close(reason) {
      if (current) drop(current, reason, { wanted: true })
      problem = reason
    },
  }
}

function describe(exit: Exit | undefined): string {
  if (exit?.reason) return `the server ended: ${exit.reason}`
  return exit?.code === undefined
    ? 'the server closed its output'
    : `the server ended with exit code ${exit.code}`
}
