import { resolve } from 'node:path'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { RunOptions } from '../../../src/contracts/run-options.ts'
import { isResourceOf } from '../../../src/lib/resource-of-server.ts'
import { failures } from '../failures.ts'

const FLAGS = {
  bearer_token_file: 'remote-auth-bearer-token-file',
  client_secret_file: 'remote-auth-client-secret-file',
  private_key_file: 'remote-auth-private-key-file',
} as const

/**
 * A run config of a file may be a stranger's, and the files that it names go to its server: the person has to name them,
 * too. Fails with `credential_file_unconfirmed`.
 */
export function confirmFiles(config: RunConfig, options: RunOptions): RunConfig {
  const { remote_auth_config: auth } = config
  if (!auth || options['from-config'] === undefined) return config
  const confirmed: Partial<Record<keyof typeof FLAGS, string>> = {}
  for (const member of ['bearer_token_file', 'client_secret_file', 'private_key_file'] as const) {
    const [named, typed] = [auth[member], options[FLAGS[member]]]
    if (named && !typed) {
      const server = config.remote_url ?? ''
      throw failures.credential_file_unconfirmed({ path: named, server, flag: FLAGS[member] })
    }
    if (typed) confirmed[member] = resolve(typed)
  }
  return { ...config, remote_auth_config: { ...auth, ...confirmed } }
}

/**
 * In the same way the server of a stranger's file could get tokens for another one, where the person then logs in.
 * Fails with `resource_unconfirmed`.
 */
export function confirmResource(config: RunConfig, options: RunOptions): RunConfig {
  const { remote_auth_config: auth, remote_url: server = '' } = config
  if (!auth?.resource || options['from-config'] === undefined) return config
  const typed = options['remote-auth-resource']
  if (typed) return { ...config, remote_auth_config: { ...auth, resource: typed } }
  if (isResourceOf(auth.resource, server)) return config
  throw failures.resource_unconfirmed({ resource: auth.resource, server })
}
