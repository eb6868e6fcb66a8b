import { onTestFinished } from 'vitest'

/** A stream that is read as far as a test wants to. */
export interface Listener {
  readonly response: Response
  /** Reads until a part has come; answers all that has. */
  until(part: string): Promise<string>
  /** Reads to the end. */
  end(): Promise<void>
  /** Goes away. */
  leave(): void
}

/** Opens a stream of events; it is left when the test ends. */
export async function listen(url: string): Promise<Listener> {
  const ending = new AbortController()
  onTestFinished(() => ending.abort())
  const response = await fetch(url, { signal: ending.signal })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let seen = ''
  return {
    response,
    async until(part) {
      while (!seen.includes(part)) {
        const { done, value } = (await reader?.read()) ?? { done: true }
        if (done) throw new Error(`the stream ended before ${part}: ${seen}`)
        seen += value
      }
      return seen
    },
    async end() {
      while (!(await reader?.read())?.done);
    },
    leave: () => ending.abort(),
  }
}
