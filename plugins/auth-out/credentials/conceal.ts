import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isCredential } from '../headers/header-rules.ts'
import { referredName, toReference } from './kept-secret.ts'
import { parseToken } from './parse-token.ts'
import { createWorkloadSecrets, type WorkloadSecrets } from './workload-secrets.ts'

/** Moves plain secrets into the secrets provider. Fails with `credential_not_storable`. */
export async function conceal(app: App, config: RunConfig): Promise<RunConfig> {
  const secrets = createWorkloadSecrets(app)
  return concealOfClient(secrets, await concealToken(secrets, await concealHeaders(secrets, config)))
}

async function concealToken(secrets: WorkloadSecrets, config: RunConfig): Promise<RunConfig> {
  const { bearer_token: token, ...auth } = config.remote_auth_config ?? {}
  if (!token || referredName(token) !== undefined) return config
  const name = await secrets.store('bearer_token', parseToken(token, 'The bearer token'), config)
  const bearer_token = toReference(name, 'bearer_token')
  return { ...config, remote_auth_config: { ...auth, bearer_token } }
}

/** A client has one of both. */
async function concealOfClient(secrets: WorkloadSecrets, config: RunConfig): Promise<RunConfig> {
  const { client_secret, private_key } = config.remote_auth_config ?? {}
  const [member, kind] = private_key
    ? (['private_key', 'private_key'] as const)
    : (['client_secret', 'oauth_secret'] as const)
  const value = private_key || client_secret
  if (!value || referredName(value) !== undefined) return config
  const reference = toReference(await secrets.store(kind, value, config), kind)
  return { ...config, remote_auth_config: { ...config.remote_auth_config, [member]: reference } }
}

/** Headers that carry credentials by their name are no plain headers, whichever flag they came from. */
async function concealHeaders(secrets: WorkloadSecrets, config: RunConfig): Promise<RunConfig> {
  const { add_plaintext_headers = {}, add_headers_from_secret = {} } = config.header_forward ?? {}
  const plain = { ...add_plaintext_headers }
  const fromSecret = { ...add_headers_from_secret }
  for (const [header, value] of Object.entries(plain)) {
    if (!isCredential(header)) continue
    fromSecret[header] = await secrets.store('header', value, config, header)
    delete plain[header]
  }
  if (Object.keys(plain).length === Object.keys(add_plaintext_headers).length) return config
  return {
    ...config,
    header_forward: {
      ...(Object.keys(plain).length ? { add_plaintext_headers: plain } : {}),
      add_headers_from_secret: fromSecret,
    },
  }
}
