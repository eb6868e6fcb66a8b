import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isKept, referredName } from './kept-secret.ts'
import { createWorkloadSecrets, type WorkloadSecrets } from './workload-secrets.ts'

/** Undoes `conceal`. References to secrets of the user stay. Fails with `credential_missing`. */
export async function reveal(app: App, config: RunConfig): Promise<RunConfig> {
  const secrets = createWorkloadSecrets(app)
  return revealLogin(secrets, await revealHeaders(secrets, config))
}

async function revealLogin(secrets: WorkloadSecrets, config: RunConfig): Promise<RunConfig> {
  const auth = { ...config.remote_auth_config }
  for (const member of ['bearer_token', 'client_secret', 'private_key'] as const) {
    const name = referredName(auth[member] ?? '')
    if (name !== undefined && isKept(name)) auth[member] = await secrets.get(name, config)
  }
  return config.remote_auth_config ? { ...config, remote_auth_config: auth } : config
}

async function revealHeaders(secrets: WorkloadSecrets, config: RunConfig): Promise<RunConfig> {
  const { add_plaintext_headers = {}, add_headers_from_secret = {} } = config.header_forward ?? {}
  const plain = { ...add_plaintext_headers }
  const fromSecret = { ...add_headers_from_secret }
  for (const [header, name] of Object.entries(add_headers_from_secret)) {
    if (!isKept(name)) continue
    plain[header] = await secrets.get(name, config)
    delete fromSecret[header]
  }
  if (Object.keys(plain).length === Object.keys(add_plaintext_headers).length) return config
  return { ...config, header_forward: { add_plaintext_headers: plain, add_headers_from_secret: fromSecret } }
}
