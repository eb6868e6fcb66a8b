import { request } from 'node:http'

/** The socket could not be reached, or the connection broke: nothing is known about the request. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/** One request to the supervisor. Without `timeoutMs` it waits as long as the work takes. */
export function requestSupervisor(
  socketPath: string,
  method: 'GET' | 'POST',
  path: string,
  options: { timeoutMs?: number } = {},
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
      sent.setTimeout(options.timeoutMs, () => sent.destroy(new Error('it took too long to answer')))
    }
    sent.on('error', fail)
    sent.end()
  })
}
