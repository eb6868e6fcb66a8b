import type { App } from '../../src/app.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { readUserFile } from '../../src/user-file.ts'
import { type BoundSecret, boundSecret } from '../secrets/index.ts'
import { failures } from './failures.ts'
import type { TokenExchangeConfig } from './section.ts'

const secretOf = (app: App, workload: string, exchange: TokenExchangeConfig): BoundSecret =>
  boundSecret(app, {
    workload,
    prefix: 'TOKEN_EXCHANGE_SECRET',
    target: 'token_exchange_secret',
    bound: [exchange.token_url, exchange.client_id],
    failures: {
      missing: failures.exchange_secret_missing,
      notStorable: failures.exchange_secret_not_storable,
    },
  })

/** Returns the secret: from its file, the secrets provider, or plain. Fails with `exchange_secret_missing`. */
export const clientSecretOf = (
  app: App,
  exchange: TokenExchangeConfig,
  workload: string,
): Promise<string | undefined> =>
  exchange.client_secret_file
    ? readSecretFile(exchange.client_secret_file)
    : secretOf(app, workload, exchange).read(exchange.client_secret)

async function readSecretFile(path: string): Promise<string> {
  const secret = (await readUserFile(path, 'The file with the client secret of the exchange')).trim()
  if (!secret) throw failures.exchange_file_empty({ path })
  return secret
}

/** A secret of the user's. Fails with `exchange_secret_missing`. */
export async function namedSecret(app: App, name: string): Promise<string> {
  const found = await (await app.service('secrets')).find(name)
  if (found === undefined) throw failures.exchange_secret_missing({ secret: name })
  return found
}

/** Moves a plain secret into the secrets provider. Fails with `exchange_secret_not_storable`. */
export async function concealClientSecret(app: App, config: RunConfig): Promise<RunConfig> {
  const { token_exchange_config: exchange } = config
  if (!exchange?.client_secret) return config
  const client_secret = await secretOf(app, config.name, exchange).conceal(exchange.client_secret)
  return { ...config, token_exchange_config: { ...exchange, client_secret } }
}

/** The run config with the secret that is kept for it. Fails with `exchange_secret_missing`. */
export async function revealClientSecret(app: App, config: RunConfig): Promise<RunConfig> {
  const { token_exchange_config: exchange } = config
  if (!exchange?.client_secret) return config
  const client_secret = await secretOf(app, config.name, exchange).read(exchange.client_secret)
  return { ...config, token_exchange_config: { ...exchange, ...(client_secret ? { client_secret } : {}) } }
}

/** Deletes what is kept for a workload that is gone. */
export async function forgetClientSecret(
  app: App,
  { name, token_exchange_config: exchange }: RunConfig,
): Promise<void> {
  if (exchange) await secretOf(app, name, exchange).forget(exchange.client_secret)
}
