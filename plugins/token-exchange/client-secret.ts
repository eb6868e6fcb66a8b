import type { App } from '../../src/app.ts'
import { readUserFile } from '../../src/user-file.ts'
import { type BoundSecret, boundSecret, type MemberSecret, memberSecret } from '../secrets/index.ts'
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

/** The client secret of run configs. Fails with `exchange_secret_not_storable` and `exchange_secret_missing`. */
export const clientSecretIn = (app: App): MemberSecret =>
  memberSecret(['token_exchange_config', 'client_secret'], (workload, exchange) =>
    secretOf(app, workload, exchange),
  )
