import type { App } from '../../src/app.ts'
import { readCaBundle } from '../../src/ca-bundle.ts'
import type { Exchange, Handler, Middleware } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { messageOf } from '../../src/errors.ts'
import { hasCallers } from '../../src/has-callers.ts'
import type { Log } from '../../src/log.ts'
import { hasBody } from '../proxy/index.ts'
import { createCallerCredentials } from './caller-credentials.ts'
import { failures } from './failures.ts'
import { createRefuse } from './refuse.ts'
import type { AwsStsConfig } from './section.ts'
import { createSignRequest } from './sign-request.ts'
import { openSubjectTokens } from './subject-tokens.ts'

const SERVICE = 'aws-mcp'

/** Makes the middleware. Fails where nobody has to log in, and with `role_matcher_invalid`. */
export async function createSigningMiddleware(
  app: App,
  config: RunConfig,
  { aws, log, port }: { aws: AwsStsConfig; log: Log; port: number },
): Promise<Middleware> {
  if (!hasCallers(config)) throw failures.aws_without_login({ name: config.name })
  const credentialsOf = createCallerCredentials(aws, {
    ca: await readCaBundle(config.svc_ca_bundle),
    endpoint: app.env.AWS_ENDPOINT_URL_STS || undefined,
  })
  const toSign = createSignRequest({ region: aws.region ?? '', service: aws.service || SERVICE })
  const refuse = createRefuse(log)

  const subjectToken = await openSubjectTokens(app, { ...config, port }, aws)

  async function signed(exchange: Exchange, next: Handler): Promise<void> {
    const token = await subjectToken(exchange)
    const { caller } = exchange
    if (token === undefined || !caller) return refuse(exchange, { kind: 'token', code: 'no token' })
    const result = await credentialsOf({ token, claims: caller.claims })
    if ('problem' in result) return refuse(exchange, result.problem)
    // Reading a body that is not there would make one of it.
    if (hasBody(exchange.request)) await exchange.body()
    const sign = toSign(exchange, result.value)
    const trySign: Exchange['sign'] = request =>
      sign(request).catch(error => {
        log.warn(`A request could not be signed: ${messageOf(error)}`)
        throw failures.aws_signing_failed()
      })
    exchange.sign = trySign
    return next(exchange)
  }

  return {
    name: 'aws-sts',
    stage: 'sign',
    summary: `AWS credentials in ${aws.region} by role`,
    wrap: next => exchange => signed(exchange, next),
  }
}
