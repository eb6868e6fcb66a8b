import { expect, test } from 'vitest'
import { tokenExchangePreparation } from '../../../plugins/token-exchange/preparation.ts'
import type { App } from '../../../src/app.ts'

const TRUSTED = 'https://login.example/token'

/** The user has no secret, so whoever gets as far as asking for it fails there. */
const app = {
  env: {},
  log: { warn: () => {} },
  service: async () => ({ find: async () => undefined }),
} as unknown as App

test.each([
  ['https://evil.example/token', { token_url: 'https://evil.example/token' }, 'https://else.example'],
  ['https://evil.example', {}, 'https://evil.example'],
])('a secret of the user goes to %s only if the person names it', async (receiver, more, audience) => {
  const token_exchange_config = {
    ...{ token_url: TRUSTED, audience },
    identity_assertion: { ...more, client_id: 'a', client_secret_name: 'GITHUB' },
  }
  const config = {
    name: 'a',
    transport: 'stdio',
    port: 0,
    oidc_config: { issuer: 'x' },
    token_exchange_config,
  }
  const complete = (options: object) =>
    tokenExchangePreparation(app).complete?.(
      config as never,
      { options: { 'from-config': 'a.json', 'token-exchange-url': TRUSTED, ...options } } as never,
    )
  await expect(complete({})).rejects.toMatchObject({
    code: 'exchange_unconfirmed',
    hint: `If that endpoint may have them, give --token-exchange-audience ${receiver} as well.`,
  })
  await expect(complete({ 'token-exchange-audience': receiver })).rejects.toMatchObject({
    code: 'exchange_secret_missing',
  })
})
