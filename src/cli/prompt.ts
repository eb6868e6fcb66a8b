import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { failures } from '../errors.ts'
import { printable } from '../lib/printable.ts'
import { fold } from './fold.ts'
import { isTerminal, widthOf } from './output.ts'

interface Terminal {
  readonly stdin: Readable
  readonly stderr: Writable
}

/**
 * Asks on standard error, so that piped output stays clean. Returns undefined without a terminal. When the signal
 * aborts, the question is taken back and the promise rejected.
 */
export async function ask(
  { stdin, stderr }: Terminal,
  question: string,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<string | undefined> {
  if (!isTerminal(stdin)) return undefined
  const lines = createInterface({ input: stdin, output: stderr })
  const shown = fold(printable(question), { width: widthOf(stderr) })
  try {
    if (!signal) return await lines.question(shown)
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT')) // more than the question is interrupted
    return await lines.question(shown, { signal })
  } finally {
    lines.close()
    if (signal?.aborted) stderr.write('\n')
  }
}

/** Reads a secret: piped input whole (less one final line break), or a line typed without echo. */
export async function askSecret({ stdin, stderr }: Terminal, question: string): Promise<string> {
  const value = isTerminal(stdin) ? await readHidden(stdin, stderr, question) : await readAll(stdin)
  if (!value) throw failures.usage({ text: 'The value is empty.', hint: 'Type it, or pipe it in.' })
  return value
}

async function readAll(stdin: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}

async function readHidden(stdin: Readable, stderr: Writable, question: string): Promise<string> {
  const tty = stdin as Readable & { setRawMode(on: boolean): void }
  tty.setRawMode(true) // before the question, since what is typed until then is shown
  stderr.write(`${printable(question)}: `)
  tty.resume() // a question before this one has paused it
  let value = ''
  try {
    for (;;) {
      const [chunk] = (await once(stdin, 'data')) as [Buffer]
      for (const char of chunk.toString('utf8')) {
        if (char === '\r' || char === '\n') return value
        if (char === '\u0003' || char === '\u0004') throw failures.usage({ text: 'Cancelled.' })
        value = char === '\u007f' || char === '\b' ? value.slice(0, -1) : value + char
      }
    }
  } finally {
    tty.setRawMode(false)
    stdin.pause()
    stderr.write('\n')
  }
}
