import type { Dispatcher } from 'undici'

/** What is held of a body that is not being read, in bytes; then its server waits. */
const MOST_HELD = 64 * 1024
/** The most bytes that are read of a body that nobody needs, to keep the connection usable. */
const MOST_DUMPED = 128 * 1024

/** The body of a response of an HTTP server, which can be read once. */
export interface ResponseBody extends AsyncIterable<Buffer> {
  /** All of it, raw (see raw-json.ts). Throws if it is longer than `maxBytes`, or breaks. */
  text(maxBytes: number): Promise<string>
  /** Drops it, so that its connection can be used again. */
  dump(): Promise<void>
}

/** A class, because one is made for each request, and plain: a stream of Node takes longer than most responses. */
export class IncomingBody implements ResponseBody {
  readonly #controller: Dispatcher.DispatchController
  #chunks: Buffer[] = []
  #bytes = 0
  /** The most bytes that may be held. */
  #most = MOST_HELD
  #isOver = false
  #error: Error | undefined
  #wake = () => {}

  constructor(controller: Dispatcher.DispatchController) {
    this.#controller = controller
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes > this.#most) this.#controller.pause()
    this.#wake()
  }

  /** @param error why the body is not whole */
  end(error?: Error): void {
    this.#isOver = true
    this.#error = error
    this.#wake()
  }

  #more(): Promise<void> {
    return new Promise(resolve => {
      this.#wake = resolve
      // It may bring bytes at once.
      if (this.#controller.paused) this.#controller.resume()
    })
  }

  #cut(reason: Error): void {
    if (!this.#isOver) this.#controller.abort(reason)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift()
        if (chunk) {
          this.#bytes -= chunk.length
          yield chunk
        } else if (this.#error) throw this.#error
        else if (this.#isOver) return
        else await this.#more()
      }
    } finally {
      this.#cut(new Error('the response is not read to its end'))
    }
  }

  async text(maxBytes: number): Promise<string> {
    this.#most = maxBytes
    while (!this.#isOver && this.#bytes <= maxBytes) await this.#more()
    if (this.#bytes > maxBytes) {
      const error = new Error(`it sent a response of more than ${maxBytes} bytes`)
      this.#cut(error)
      throw error
    }
    if (this.#error) throw this.#error
    const chunks = this.#chunks
    this.#chunks = []
    return (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString('latin1')
  }

  async dump(): Promise<void> {
    let dumped = 0
    for (;;) {
      dumped += this.#bytes
      this.#chunks = []
      this.#bytes = 0
      if (this.#isOver) return
      if (dumped > MOST_DUMPED) return this.#cut(new Error('the response is too long to be dropped'))
      await this.#more()
    }
  }
}
