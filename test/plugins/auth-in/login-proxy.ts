import { createAuthenticate, createResourceMetadata } from '../../../plugins/auth-in/middlewares.ts'
import { createCallerAuth } from '../../../plugins/auth-in/service.ts'
import type { Caller, CallerAuthConfig } from '../../../src/contracts/caller-auth.ts'
import type { Exchange, MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import { createLog } from '../../../src/log.ts'
import { testProxy, testServer } from '../proxy/test-proxy.ts'
import { AUDIENCE } from './issuer.ts'

export const RESOURCE = 'https://tools.test/mcp'

/** A proxy whose callers log in, in front of a server that notes what reaches it. */
export async function loginProxy(config: CallerAuthConfig) {
  const reached: { url: string; authorization: string | undefined }[] = []
  const callers: (Caller | undefined)[] = []
  const target = await testServer((request, response) => {
    reached.push({ url: request.url ?? '', authorization: request.headers.authorization })
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{"jsonrpc":"2.0","id":1,"result":{}}')
  })
  const auth = createCallerAuth(
    { audience: AUDIENCE, allowHttp: true, allowPrivateIp: true, ...config },
    {
      log: createLog({ write: () => undefined, human: false, debug: false }),
      resourceUrl: RESOURCE,
      timeoutMs: 1000,
    },
  )
  const note: MiddlewareFactory = async () => ({
    name: 'note',
    stage: 'telemetry',
    wrap: next => (exchange: Exchange) => {
      callers.push(exchange.caller)
      return next(exchange)
    },
  })
  const proxy = await testProxy({
    target,
    middlewares: [async () => createResourceMetadata(auth), async () => createAuthenticate(auth), note],
  })
  return { proxy, url: `${proxy.origin}/mcp`, reached, callers }
}

/** What a refusal says, from its status, header and body. */
export async function refusalOf(response: Response) {
  const challenge = response.headers.get('www-authenticate') ?? ''
  const parameters = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [name, value]),
  )
  const body = (await response.json()) as { error?: string; error_description?: string }
  return { status: response.status, challenge, parameters, body }
}
