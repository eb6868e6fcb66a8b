import { expect, test } from 'vitest'
import {
  createOnePasswordProvider,
  type OnePasswordModule,
} from '../../../plugins/secrets/providers/onepassword.ts'

const TOKEN = 'ops_planted_token'
const env = { OP_SERVICE_ACCOUNT_TOKEN: TOKEN }

/** Stands for @1password/sdk with one vault, one item and two fields. */
function fakeSdk(
  values: Record<string, string | Error> = {},
): OnePasswordModule & { connections: unknown[] } {
  const connections: unknown[] = []
  return {
    connections,
    async createClient(options) {
      connections.push(options)
      return {
        secrets: {
          async resolve(reference) {
            const value =
              values[reference] ??
              new Error('error resolving secret reference: no item matched the secret reference query')
            if (value instanceof Error) throw value
            return value
          },
        },
        vaults: { list: async () => [{ id: 'v1', title: 'Work' }] },
        items: {
          list: async () => [{ id: 'i1', title: 'GitHub' }],
          get: async () => ({
            fields: [
              { id: 'f1', title: 'token' },
              { id: 'f2', title: 'user' },
            ],
          }),
        },
      }
    },
  }
}

test('a reference is resolved by one connection, made on first use', async () => {
  const sdk = fakeSdk({ 'op://v1/i1/f1': 'planted' })
  const provider = createOnePasswordProvider({ env, load: async () => sdk })
  expect(sdk.connections).toEqual([])

  expect(await provider.find('op://v1/i1/f1')).toBe('planted')
  expect(await provider.find('op://v1/i1/none')).toBeUndefined()

  expect(sdk.connections).toEqual([expect.objectContaining({ auth: TOKEN, integrationName: 'keelson' })])
})

test('fields are listed with the titles of vault and item, never with values', async () => {
  const provider = createOnePasswordProvider({ env, load: async () => fakeSdk() })

  expect(await provider.list?.()).toEqual([
    { key: 'op://v1/i1/f1', description: 'Work :: GitHub :: token' },
    { key: 'op://v1/i1/f2', description: 'Work :: GitHub :: user' },
  ])
})

test('it stores and deletes nothing', () => {
  const provider = createOnePasswordProvider({ env, load: async () => fakeSdk() })
  expect([provider.set, provider.delete]).toEqual([undefined, undefined])
})

test('a name that is not a reference is refused without a connection', async () => {
  const sdk = fakeSdk()
  const provider = createOnePasswordProvider({ env, load: async () => sdk })

  await expect(provider.find('GITHUB_TOKEN')).rejects.toMatchObject({ code: 'onepassword_reference' })
  expect(sdk.connections).toEqual([])
})

test('trouble is not mistaken for a missing secret, and the token is not repeated', async () => {
  const trouble = new Error(`rate limit exceeded for ${TOKEN}`)
  const provider = createOnePasswordProvider({ env, load: async () => fakeSdk({ 'op://a/b/c': trouble }) })

  const attempt = provider.find('op://a/b/c')

  await expect(attempt).rejects.toMatchObject({
    code: 'onepassword_failed',
    message: expect.stringContaining('rate limit exceeded for [redacted]'),
  })
})

test.each([
  ['no token', {}, async () => fakeSdk(), 'OP_SERVICE_ACCOUNT_TOKEN is not set'],
  ['no package', env, () => Promise.reject(new Error('not found')), '@1password/sdk is not installed'],
  [
    'a token that is refused',
    env,
    async (): Promise<OnePasswordModule> => ({
      createClient: () => Promise.reject(new Error(`bad ${TOKEN}`)),
    }),
    'bad [redacted]',
  ],
  [
    'no response',
    env,
    async (): Promise<OnePasswordModule> => ({ createClient: () => new Promise(() => undefined) }),
    'did not respond within 0.02 seconds',
  ],
])('set-up fails with %s', async (_, variables, load, words) => {
  const provider = createOnePasswordProvider({ env: variables, load, connectMs: 20 })

  await expect(provider.prepare()).rejects.toMatchObject({
    code: 'onepassword_unavailable',
    message: expect.stringContaining(words),
  })
})

test('after a failed connection the next call tries again', async () => {
  const sdk = fakeSdk({ 'op://v1/i1/f1': 'planted' })
  const loads = [() => Promise.reject(new Error('no network')), async () => sdk]
  const provider = createOnePasswordProvider({ env, load: () => (loads.shift() ?? (async () => sdk))() })

  await expect(provider.find('op://v1/i1/f1')).rejects.toMatchObject({ code: 'onepassword_unavailable' })

  expect(await provider.find('op://v1/i1/f1')).toBe('planted')
})
