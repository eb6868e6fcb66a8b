import { expect, test } from 'vitest'
import { loginPreparation } from '../../../plugins/auth-in/preparation.ts'

const oidc_config = { issuer: 'https://login.example', audience: 'tools', allowPrivateIP: true }
const config = { name: 'a', transport: 'stdio', port: 0, oidc_config } as never

const complete = (options: object) =>
  loginPreparation({} as never).complete?.(config, { options, typed: false, foreground: false } as never)

test('a provider in a private network, as a file names it, has to be confirmed', async () => {
  const stranger = { 'from-config': 'a.json' }
  await expect(complete(stranger)).rejects.toMatchObject({ code: 'oidc_private_unconfirmed' })
  await expect(complete({ ...stranger, 'jwks-allow-private-ip': true })).resolves.toMatchObject({
    oidc_config,
  })
  await expect(complete({})).resolves.toMatchObject({ oidc_config })
})
