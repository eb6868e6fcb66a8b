import type { ServerResponse } from 'node:http'

/**
 * How a response ended. `complete`: all of it was given to the connection. `client`: the client closed the connection
 * first. `cut`: we broke it off, because the server did or because the proxy closes.
 */
export type ResponseEnd = 'complete' | 'client' | 'cut'

/** Sees a response on its way to the client. What it does is done before the bytes go on, so it has to be quick. */
export interface ResponseObserver {
  /** The status and the headers are decided; no byte has left. `header` returns the value of one of them. */
  head?(header: (name: string) => string | undefined): void
  /** A part of the body, before it is sent. It must not be changed or kept. */
  part(bytes: Buffer): void
  /** Called once, before the last byte is sent. */
  end(how: ResponseEnd): void
}

/**
 * Observes a response without delaying or buffering it. Several observers may see one response. An observer must not
 * throw.
 */
export function observeResponse(response: ServerResponse, observer: ResponseObserver): void {
  const { writeHead, write, end, destroy } = response
  let isEnded = false
  const pass = (chunk: unknown, encoding: unknown): void => {
    const bytes = toBuffer(chunk, encoding)
    if (bytes?.length && !isEnded) observer.part(bytes)
  }
  const finish = (how: ResponseEnd): void => {
    if (isEnded) return
    isEnded = true
    observer.end(how)
  }
  // Not one by one: V8 keeps a function that is assigned to a member where it is written until a full collection.
  Object.assign(response, {
    writeHead(...args: unknown[]) {
      const result = Reflect.apply(writeHead, response, args)
      observer.head?.(name => findHeader(args.at(-1), name) ?? response.getHeader(name)?.toString())
      return result
    },
    write(...args: unknown[]) {
      pass(args[0], args[1])
      return Reflect.apply(write, response, args)
    },
    end(...args: unknown[]) {
      pass(args[0], args[1])
      finish(response.destroyed ? 'client' : 'complete')
      return Reflect.apply(end, response, args)
    },
    destroy(...args: unknown[]) {
      finish(response.destroyed ? 'client' : 'cut')
      return Reflect.apply(destroy, response, args)
    },
  })
  response.on('close', () => finish('client'))
}

/** Finds a header in what `writeHead` was given: an object, or names and values in turn. */
function findHeader(given: unknown, name: string): string | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const list: readonly unknown[] = Array.isArray(given) ? given : Object.entries(given).flat()
  for (let at = 0; at < list.length; at += 2) {
    if (String(list[at]).toLowerCase() === name) return list[at + 1]?.toString()
  }
  return undefined
}

function toBuffer(chunk: unknown, encoding: unknown): Buffer | undefined {
  if (Buffer.isBuffer(chunk)) return chunk
  if (chunk instanceof Uint8Array) return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  if (typeof chunk !== 'string') return undefined
  return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
}
