import type { RunConfig } from './contracts/run-config.ts'
import { isEmpty } from './lib/is-empty.ts'

/** Whether the run config makes callers log in. Its members for that belong to several plugins. */
export function hasCallers(config: RunConfig): boolean {
  const { oidc_config, embedded_auth_server_config }: Readonly<Record<string, unknown>> = { ...config }
  return !isEmpty(oidc_config) || !isEmpty(embedded_auth_server_config)
}

/**
 * Whether people are sent back to a URL of this proxy that is registered at a provider: it cannot move to another port.
 */
export function hasFixedUrl(config: RunConfig): boolean {
  const { embedded_auth_server_config }: Readonly<Record<string, unknown>> = { ...config }
  return !isEmpty(embedded_auth_server_config)
}
