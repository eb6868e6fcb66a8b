import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { IncomingBody, type ResponseBody } from './response-body.ts'

/** The response of an HTTP server to a request of the proxy. */
export interface ServerResponse {
  readonly statusCode: number
  readonly headers: IncomingHttpHeaders
  readonly body: ResponseBody
}

/** Sends a request; resolves with the head of the response. `Dispatcher.request` takes several times as long. */
export function dispatch(
  agent: Dispatcher,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<ServerResponse> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    let controller: Dispatcher.DispatchController | undefined
    let body: IncomingBody | undefined
    const onAbort = () => {
      controller?.abort(signal.reason)
      reject(signal.reason)
    }
    const end = (error?: Error) => {
      signal.removeEventListener('abort', onAbort)
      if (body) body.end(error)
      else reject(error)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    agent.dispatch(request, {
      onRequestStart(now) {
        controller = now
        if (signal.aborted) now.abort(signal.reason)
      },
      onResponseStart(now, statusCode, headers) {
        if (statusCode < 200) return
        body = new IncomingBody(now)
        resolve({ statusCode, headers, body })
      },
      onResponseData: (_now, chunk) => body?.push(chunk),
      onResponseEnd: () => end(),
      onResponseError: (_now, error) => end(error),
    })
  })
}
