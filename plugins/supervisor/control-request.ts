import { request } from 'node:http'

/** The socket could not be reached, or the connection broke: the outcome of the request is unknown. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/**
 * Sends one request to the supervisor. Without `timeoutMs` it waits as long as the operation takes. `onSent` is called
 * when the request is in the socket, where the supervisor finds it even if this process is killed.
 */
export function requestSupervisor(
  socketPath: string,
  method: 'GET' | 'POST',
  path: string,
  options: { timeoutMs?: number; body?: string; onSent?: (() => void) | undefined } = {},
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(new Unreachable(error.message, { cause: error }))
    const sent = request({ socketPath, method, path, agent: false }, response => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', chunk => {
        body += chunk
      })
      response.on('error', fail)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
    })
    if (options.timeoutMs !== undefined) {
      sent.setTimeout(options.timeoutMs, () => sent.destroy(new Error('it took too long to respond')))
    }
    sent.on('error', fail)
    sent.end(options.body, options.onSent)
  })
}
