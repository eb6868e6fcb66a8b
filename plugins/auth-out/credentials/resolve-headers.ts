import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { failures } from '../failures.ts'
import { assertHeaderValue } from '../headers/header-rules.ts'
import { createWorkloadSecrets } from './workload-secrets.ts'

/**
 * The headers with their values, by lower-case name. Secrets are read now. Fails with `credential_missing`, or
 * `header_secret_wrong`.
 */
export async function resolveHeaders(app: App, config: RunConfig): Promise<[string, string][]> {
  const { add_plaintext_headers = {}, add_headers_from_secret = {} } = config.header_forward ?? {}
  const headers = Object.entries(add_plaintext_headers)
  const secrets = createWorkloadSecrets(app)
  for (const [name, secret] of Object.entries(add_headers_from_secret)) {
    const value = await secrets.get(secret, config)
    try {
      assertHeaderValue(name, value)
    } catch (error) {
      throw failures.header_secret_wrong({ name, secret }, { cause: error })
    }
    if (!value.trim()) throw failures.header_secret_wrong({ name, secret })
    headers.push([name, value])
  }
  return headers.map(([name, value]) => [name.toLowerCase(), value])
}
