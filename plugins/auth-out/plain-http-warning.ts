import type { RunConfig } from '../../src/contracts/run-config.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { isCredential } from './headers/header-rules.ts'
import { asksForLogin } from './logins/login-settings.ts'

/**
 * What is wrong with sending credentials where a run config says; undefined where that is safe. `logsIn`: somebody logs
 * in now, whatever the run config says.
 */
export function plainHttpWarning(config: RunConfig, { logsIn = false } = {}): string | undefined {
  const url = URL.parse(config.remote_url ?? '')
  if (url?.protocol !== 'http:' || isLoopback(url.hostname)) return undefined
  const { bearer_token, bearer_token_file } = config.remote_auth_config ?? {}
  const { add_headers_from_secret = {}, add_plaintext_headers = {} } = config.header_forward ?? {}
  const headers = [
    ...Object.keys(add_headers_from_secret),
    ...Object.keys(add_plaintext_headers).filter(isCredential),
  ]
  const hasToken = bearer_token || bearer_token_file || asksForLogin(config)
  const hasCredentials = logsIn || hasToken || headers.length > 0
  return hasCredentials
    ? `Credentials for ${url.host} go over http, where others on the way can read them. Use https if it has that.`
    : undefined
}
