import type { App } from '../../src/app.ts'
import type { Exchange } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { isFailure } from '../../src/errors.ts'
import { callerToken } from '../auth-in/index.ts'
import { refuseUnavailable } from '../proxy/index.ts'
import { failures } from './failures.ts'
import type { AwsStsConfig } from './section.ts'

/** Returns the token that STS gets for a request; undefined: there is none. */
export type SubjectTokens = (exchange: Exchange) => string | undefined | Promise<string | undefined>

const RETRY_SECONDS = 10

/** The caller's own token, or that at an upstream provider. Fails with `upstream_unknown`. */
export async function openSubjectTokens(
  app: App,
  config: RunConfig,
  { subject_provider_name: provider }: AwsStsConfig,
): Promise<SubjectTokens> {
  if (!provider) return callerToken
  const servers = await app.find('authServers')
  if (!servers) throw failures.aws_without_login({ name: config.name })
  const tokenOf = await servers.upstreamTokensOf(config, provider)
  return exchange =>
    tokenOf(exchange.caller).catch(async error => {
      if (!isFailure(error) || error.status !== 503) throw error
      throw await refuseUnavailable(exchange, error.message, RETRY_SECONDS)
    })
}
