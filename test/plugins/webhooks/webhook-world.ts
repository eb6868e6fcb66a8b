import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import webhooks from '../../../plugins/webhooks/index.ts'
import { webhooksSection } from '../../../plugins/webhooks/section.ts'
import type { WebhookConfig } from '../../../plugins/webhooks/webhook-members.ts'
import type { App } from '../../../src/app.ts'
import type { Caller } from '../../../src/contracts/caller-auth.ts'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { checkSection } from '../../../src/sections.ts'
import { post, type TestProxy, testProxy, testServer } from '../proxy/test-proxy.ts'

/** What a webhook was sent. */
export interface Asked {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The body, read. */
  readonly said: {
    readonly version: string
    readonly uid: string
    readonly timestamp: string
    readonly principal: Record<string, unknown> | null
    readonly mcp_request: { id?: unknown; method: string; params?: Record<string, unknown> }
    readonly context: Record<string, unknown>
  }
}

/** How a webhook answers: members of a body with status 200, or whatever the function does. */
export type Answer = object | ((response: ServerResponse, asked: Asked) => void)

/** A webhook of this process. */
export interface TestWebhook {
  readonly url: string
  readonly asked: Asked[]
  /** From now on. */
  answer(how: Answer): void
  /** Connections that were made to it. */
  connections(): number
}

export async function testWebhook(how: Answer = { allowed: true }): Promise<TestWebhook> {
  const asked: Asked[] = []
  const sockets = new Set<unknown>()
  let current = how
  const origin = await testServer(async (request, response) => {
    sockets.add(request.socket)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const one: Asked = { headers: request.headers, body, said: JSON.parse(body) }
    asked.push(one)
    if (typeof current === 'function') return current(response, one)
    sendJson(response, { version: 'v0.1.0', uid: one.said.uid, ...current })
  })
  return {
    url: `${origin}/hook?a=b`,
    asked,
    answer: next => {
      current = next
    },
    connections: () => sockets.size,
  }
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** Names a webhook of this machine, which needs two members that say so. */
export const named = (name: string, url: string, more: Partial<WebhookConfig> = {}): WebhookConfig => ({
  ...{ name, url, failure_policy: 'fail', allow_private_ip: true },
  tls_config: { insecure_skip_verify: true },
  ...more,
})

/** Takes the header `x-user` for a login. */
export const login: MiddlewareFactory = async () => ({
  name: 'login',
  stage: 'authenticate',
  wrap: next => exchange => {
    const said = exchange.request.headers['x-user']
    if (said) exchange.caller = JSON.parse(String(said)) as Caller
    return next(exchange)
  },
})

const SECRETS: Readonly<Record<string, string>> = { HOOK_KEY: 'a key' }

/** What the plugin uses of the program. */
const app = {
  service: async () => ({ find: async (name: string) => SECRETS[name] }),
} as unknown as App

/** The factories as the program has them. */
export const webhookFactories = (): MiddlewareFactory[] =>
  (webhooks.provides?.middlewares ?? []).map((make): MiddlewareFactory => {
    const factory = make(app)
    return (whole, ...rest) => {
      checkSection(webhooksSection, whole)
      return factory(whole, ...rest)
    }
  })

/** A proxy with webhooks; without a target it waits for a server. */
export function webhookProxy(
  config: Partial<RunConfig>,
  options: Pick<NonNullable<Parameters<typeof testProxy>[0]>, 'target' | 'middlewares'> = {},
): Promise<TestProxy> {
  const own = webhookFactories()
  return testProxy({ ...options, config, middlewares: [login, ...(options.middlewares ?? []), ...own] })
}

/** A server that keeps what reaches it. */
export async function keepingServer() {
  const reached: { body: string; headers: IncomingHttpHeaders }[] = []
  const target = await testServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    reached.push({ body: Buffer.concat(chunks).toString(), headers: request.headers })
    sendJson(response, { jsonrpc: '2.0', id: 1, result: {} })
  })
  return { target, reached }
}

/** The status and the JSON of a response. */
export async function sendTo(url: string, body: string | Buffer, headers: Record<string, string> = {}) {
  const response = await post(url, body, headers)
  const text = await response.text()
  return { status: response.status, json: text.startsWith('{') ? JSON.parse(text) : text }
}
