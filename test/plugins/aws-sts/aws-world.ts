import { createHash, createHmac } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { keepCallerToken } from '../../../plugins/auth-in/caller-token.ts'
import { describeResource } from '../../../plugins/auth-in/resource-metadata.ts'
import { awsStsMiddleware } from '../../../plugins/aws-sts/middleware.ts'
import type { AwsStsConfig } from '../../../plugins/aws-sts/section.ts'
import type { App } from '../../../src/app.ts'
import type { Caller } from '../../../src/contracts/caller-auth.ts'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { type TestProxy, testProxy, testServer } from '../proxy/test-proxy.ts'

export const ROLE = 'arn:aws:iam::123456789012:role/reader'
export const METADATA = 'https://tools.test/.well-known/oauth-protected-resource'
const REGION = 'eu-west-1'

/** Claims of callers by their token; the check of tokens is not what is tested here. */
const CALLERS: Readonly<Record<string, Record<string, unknown>>> = {
  'token-of-ada': { sub: 'ada', groups: ['readers'] },
  'token-of-bob': { sub: 'bob', groups: ['readers'] },
  'token-of-eve': { sub: 'eve', groups: [] },
  'token-of-pipe': { sub: 'auth0|pipe', groups: ['readers'] },
}

const accepting: MiddlewareFactory = async () => ({
  name: 'authenticate',
  stage: 'authenticate',
  wrap: next => exchange => {
    const token = exchange.request.headers.authorization?.replace(/^Bearer /, '') ?? ''
    const claims = CALLERS[token]
    if (claims) {
      keepCallerToken(exchange, token)
      exchange.caller = { subject: String(claims.sub), claims }
      exchange.resourceMetadata = describeResource({
        resourceUrl: 'https://tools.test',
        issuers: [],
        scopes: [],
      })
    }
    exchange.setHeader('authorization', undefined)
    return next(exchange)
  },
})

export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** Whether the signature is that of the algorithm that AWS documents, with the secret of the credentials. */
  readonly isSigned: boolean
}

export interface AwsWorld {
  readonly proxy: TestProxy
  /** What the service of AWS got. */
  readonly seen: Seen[]
  /** The forms that STS got. */
  readonly asked: URLSearchParams[]
  /** What STS responds from now on, in place of credentials. */
  answer(status: number, body: string): void
  /** How long credentials are good for, in seconds. */
  life(seconds: number): void
  /** What the service does with requests from now on; true: it has responded. */
  onCall: ((seen: Seen, response: ServerResponse) => boolean) | undefined
}

/** A fake STS and a fake service of AWS, with a proxy in front of the service. */
export async function awsWorld(
  said: Partial<AwsStsConfig> = {},
  options: {
    config?: Partial<RunConfig>
    path?: string
    sts?: string
    /** Tokens of callers at the upstream provider `corp`, by subject. */
    upstream?: Readonly<Record<string, string>>
  } = {},
): Promise<AwsWorld> {
  const secrets = new Map<string, string>()
  const asked: URLSearchParams[] = []
  const seen: Seen[] = []
  let instead: { status: number; body: string } | undefined
  let seconds = 3600
  const sts = await testServer(async (request, response) => {
    const form = new URLSearchParams((await bodyOf(request)).toString())
    asked.push(form)
    if (instead) return response.writeHead(instead.status).end(instead.body)
    const id = `ASIA${String(asked.length).padStart(16, '0')}`
    const secret = `secret-of-${id}-for-${form.get('RoleSessionName')}`
    secrets.set(id, secret)
    const Credentials = {
      ...{ AccessKeyId: id, SecretAccessKey: secret, SessionToken: `session-of-${id}` },
      Expiration: Math.floor(Date.now() / 1000) + seconds,
    }
    const AssumeRoleWithWebIdentityResult = { Credentials }
    return response.end(
      JSON.stringify({ AssumeRoleWithWebIdentityResponse: { AssumeRoleWithWebIdentityResult } }),
    )
  })
  const service = await testServer(async (request, response) => {
    const body = await bodyOf(request)
    const { method = '', url = '', headers } = request
    const call = { method, url, headers, body, isSigned: isSigned({ method, url, headers, body }, secrets) }
    seen.push(call)
    if (world.onCall?.(call, response)) return
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"jsonrpc":"2.0","id":1,"result":{}}')
  })
  const target = `${service}${options.path ?? '/mcp'}`
  const authServers = {
    async upstreamTokensOf(_config: RunConfig, provider: string) {
      if (provider !== 'corp') throw new Error(`there is no provider ${provider}`)
      return async (caller?: Caller) => options.upstream?.[caller?.subject ?? '']
    },
  }
  const app = {
    env: { AWS_ENDPOINT_URL_STS: options.sts ?? sts },
    find: async () => authServers,
  } as unknown as App
  const config = {
    remote_url: target,
    oidc_config: { issuer: 'https://login.example' },
    aws_sts_config: { region: REGION, role_mappings: [{ claim: 'readers', role_arn: ROLE }], ...said },
    ...options.config,
  }
  const proxy = await testProxy({ target, config, middlewares: [accepting, awsStsMiddleware(app)] })
  const world: AwsWorld = {
    proxy,
    seen,
    onCall: undefined,
    asked,
    answer(status, body) {
      instead = { status, body }
    },
    life(next) {
      seconds = next
    },
  }
  return world
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex')
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

/** Computes Signature Version 4 anew, as the reference of AWS says, and compares. */
function isSigned(
  { method, url, headers, body }: Omit<Seen, 'isSigned'>,
  secrets: ReadonlyMap<string, string>,
): boolean {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=(\w+)\/(\d{8})\/([\w-]+)\/([\w-]+)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/
  const [, id = '', day = '', region = '', service = '', names = '', signature] =
    pattern.exec(headers.authorization ?? '') ?? []
  const date = String(headers['x-amz-date'])
  if (!names.split(';').includes('host') || !date.startsWith(day)) return false
  const unsigned = Object.keys(headers).filter(name => name.startsWith('x-amz-') && !names.includes(name))
  if (unsigned.length) return false
  const [path = '', query = ''] = url.split('?')
  const canonical = [
    method,
    path.split('/').map(encode).join('/'),
    [...new URLSearchParams(query)]
      .map(pair => pair.map(encode).join('='))
      .toSorted()
      .join('&'),
    ...names.split(';').map(name => `${name}:${String(headers[name]).trim().replace(/\s+/g, ' ')}`),
    '',
    names,
    sha256(body),
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')
  const key = [day, region, service, 'aws4_request'].reduce<Buffer | string>(
    (found, part) => hmac(found, part),
    `AWS4${secrets.get(id)}`,
  )
  return hmac(key, toSign).toString('hex') === signature
}
