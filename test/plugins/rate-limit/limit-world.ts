import { createLimitMiddleware } from '../../../plugins/rate-limit/limit-middleware.ts'
import { rateLimitSection } from '../../../plugins/rate-limit/section.ts'
import type { Caller } from '../../../src/contracts/caller-auth.ts'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { checkSection } from '../../../src/sections.ts'
import { post, rpc, testProxy, testServer } from '../proxy/test-proxy.ts'

/** Takes the header `x-user` for a login: `ISSUER SUBJECT`. */
const login: MiddlewareFactory = async () => ({
  name: 'login',
  stage: 'authenticate',
  wrap: next => exchange => {
    const [issuer, subject] = String(exchange.request.headers['x-user'] ?? '').split(' ')
    const caller: Caller | undefined = subject ? { issuer, subject, claims: {} } : undefined
    exchange.caller = caller
    return next(exchange)
  },
})

/** A proxy with limits whose callers say who they are. */
export function limitedProxy(
  config: Partial<RunConfig>,
  options: Pick<NonNullable<Parameters<typeof testProxy>[0]>, 'target' | 'wait'> & {
    env?: Record<string, string>
  } = {},
) {
  const limit: MiddlewareFactory = (whole, _listener, { log }) => {
    checkSection(rateLimitSection, whole)
    return createLimitMiddleware(whole, { log, env: options.env ?? {} })
  }
  return testProxy({ ...options, config, middlewares: [login, limit] })
}

/** An HTTP server that counts the calls of tools that reach it, and responds at once. */
export async function countingServer() {
  const calls: string[] = []
  const target = await testServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      calls.push(Buffer.concat(chunks).toString('utf8'))
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('{"jsonrpc":"2.0","id":1,"result":{}}')
    })
  })
  return { target, calls }
}

export const call = (tool: string, id: string | number = 1): string =>
  rpc('tools/call', id, { name: tool, arguments: {} })

export const callAs = (url: string, user: string, tool = 'echo', headers: Record<string, string> = {}) =>
  post(url, call(tool), { 'x-user': user, ...headers })

/** The statuses of calls that are made one after the other. */
export async function statusesOf(count: number, make: () => Promise<Response>): Promise<number[]> {
  const statuses: number[] = []
  for (let made = 0; made < count; made++) {
    const response = await make()
    await response.arrayBuffer()
    statuses.push(response.status)
  }
  return statuses
}
