import type { IncomingMessage, RequestListener, Server } from 'node:http'

// To import it would load the whole of fetch, which is in the way of the first answer.
const { createServer } = process.getBuiltinModule('node:http')

/** What is listened on, from before the program is loaded. */
export interface Door {
  readonly server: Server
  /** Requests go there from now on; first those that waited. */
  open(handler: RequestListener): void
}

/**
 * Answers `/health` at once, and keeps everything else waiting until the operations are loaded: who
 * starts the server and asks is answered as soon as that can be, and never refused.
 */
export function createDoor(options: {
  nonce: string
  /** Throws for requests that are not answered at all. */
  guard: (headers: { host?: string; origin?: string }) => void
}): Door {
  const { nonce, guard } = options
  const waiting: (() => void)[] = []
  let handle: RequestListener | undefined

  const isHealth = ({ method, url, headers: { host, origin } }: IncomingMessage): boolean => {
    if (method !== 'GET' || url !== '/health') return false
    try {
      guard({ ...(host === undefined ? {} : { host }), ...(origin === undefined ? {} : { origin }) })
      return true
    } catch {
      return false // waits for who says why
    }
  }

  const server = createServer((request, response) => {
    if (handle) return handle(request, response)
    if (!isHealth(request)) return void waiting.push(() => handle?.(request, response))
    response.writeHead(204, {
      'x-toolhive-nonce': nonce,
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    })
    response.end()
  })
  server.headersTimeout = 10_000
  server.requestTimeout = 30_000
  server.keepAliveTimeout = 120_000
  return {
    server,
    open(handler) {
      handle = handler
      for (const go of waiting.splice(0)) go()
    },
  }
}
