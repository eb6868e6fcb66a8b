import { resolve } from 'node:path'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { RunOptions } from '../../../src/contracts/run-options.ts'
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
