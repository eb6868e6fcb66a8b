import type { IncomingHttpHeaders } from 'node:http'
import { authzMiddleware } from '../../../plugins/authz/middleware.ts'
import { authzSection } from '../../../plugins/authz/section.ts'
import type { Caller } from '../../../src/contracts/caller-auth.ts'
import type { Decision, MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { checkSection } from '../../../src/sections.ts'
import { post, rpc, testProxy, testServer } from '../proxy/test-proxy.ts'

export const cedar = (...policies: string[]) => ({ version: '1.0', type: 'cedarv1', cedar: { policies } })

/** Takes the header `x-claims` for the claims of a token. */
const login: MiddlewareFactory = async () => ({
  name: 'login',
  stage: 'authenticate',
  wrap: next => exchange => {
    const said = exchange.request.headers['x-claims']
    const claims = said === undefined ? undefined : (JSON.parse(String(said)) as Caller['claims'])
    exchange.caller = claims && { subject: String(claims.sub), claims }
    return next(exchange)
  },
})

/** A proxy with authorization whose callers say who they are; `decisions` are those that the audit would see. */
export async function authorizedProxy(
  config: Partial<RunConfig>,
  options: Pick<NonNullable<Parameters<typeof testProxy>[0]>, 'target' | 'wait'> = {},
) {
  const decisions: (Decision | undefined)[] = []
  const watch: MiddlewareFactory = async () => ({
    name: 'watch',
    stage: 'audit',
    wrap: next => async exchange => {
      try {
        await next(exchange)
      } finally {
        decisions.push(exchange.decision)
      }
    },
  })
  const authorize: MiddlewareFactory = (whole, listener, context) => {
    checkSection(authzSection, whole)
    return authzMiddleware()(whole, listener, context)
  }
  const proxy = await testProxy({ ...options, config, middlewares: [watch, login, authorize] })
  return { proxy, logged: proxy.logged, url: `${proxy.origin}/mcp`, decisions }
}

export interface Offers {
  readonly tools?: readonly object[]
  readonly prompts?: readonly object[]
  readonly resources?: readonly object[]
  readonly resourceTemplates?: readonly object[]
}

/** Whether a message may be of the proxy itself, which asks for what tools say of themselves. */
export const isOwn = (text: string): boolean =>
  /"method":"(?:initialize|notifications\/initialized|tools\/list)"/.test(text)

const serverInfo = { name: 'offering', version: '1' }

/** An HTTP server that notes the requests that reach it, but for its streams, and offers these. */
export async function offeringServer(offers: Offers = {}) {
  const received: string[] = []
  const headers: IncomingHttpHeaders[] = []
  const target = await testServer(async (request, response) => {
    headers.push(request.headers)
    let text = ''
    for await (const chunk of request) text += chunk
    if (text || !request.headers.accept?.includes('text/event-stream')) received.push(text)
    const { id, method = '', params } = parse(text)
    const [, list] = /^(.*)\/list$/.exec(method) ?? []
    const items = list === 'resources/templates' ? 'resourceTemplates' : (list as keyof Offers)
    const isSecond = params?.cursor === 'next'
    const page = isSecond ? { [items]: [] } : { [items]: offers[items] ?? [], nextCursor: 'next' }
    const result = list ? page : method === 'initialize' ? { ...params, serverInfo } : {}
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  return { target, received, headers }
}

function parse(text: string): { id?: unknown; method?: string; params?: Record<string, unknown> } {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

export const as = (claims: object): Record<string, string> => ({ 'x-claims': JSON.stringify(claims) })

/** Sends a request and gives its status and JSON. */
export async function ask(url: string, claims: object, method: string, params?: object) {
  const response = await post(url, rpc(method, 'an-id', params), as(claims))
  const body = (await response.json()) as { result: { tools?: unknown } }
  return { status: response.status, body }
}
