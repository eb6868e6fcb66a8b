import { join } from 'node:path'
import { expect, test } from 'vitest'
import { failures } from '../../../plugins/registry-login/failures.ts'
import { createTokenStore, type Renewal } from '../../../plugins/registry-login/token-store.ts'
import type { SecretsView } from '../../../plugins/secrets/index.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const NOW = 1_000_000

/** Secrets in memory. */
function secretsOf(values: Record<string, string>): SecretsView & { values: Map<string, string> } {
  const map = new Map(Object.entries(values))
  return {
    values: map,
    find: async name => map.get(name),
    get: async name => map.get(name) ?? '',
    set: async (name, value) => void map.set(name, value),
    delete: async name => void map.delete(name),
    list: async () => [...map.keys()].map(key => ({ key })),
  }
}

/** One process: what it keeps is shared through the secrets, who may renew through the lock. */
async function keeper(values: Record<string, object | string>, lockPath?: string) {
  const texts = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  const secrets = secretsOf(Object.fromEntries(texts))
  const path = lockPath ?? join(await temporaryFolder(), 'lock')
  const process = () => createTokenStore({ secrets, lockPath: path, clock: () => NOW })
  return { secrets, process }
}

const OLD = { access_token: 'old', refresh_token: 'r1', expires_at: NOW + 1_000 }
const NEW = { access_token: 'new', refresh_token: 'r2', expires_at: NOW + 3_600_000 }
const never = async (): Promise<Renewal> => expect.fail('nothing is to be renewed')

test.each([
  ['is good for an hour', { ...OLD, expires_at: NOW + 3_600_000 }],
  ['does not say when it ends', { access_token: 'old' }],
])('a token that %s is taken as it is', async (_, tokens) => {
  const { process } = await keeper({ a: tokens })

  expect(await process().access('a', { renew: never })).toBe('old')
})

test.each([
  ['nothing', {}],
  ['rubbish', { a: 'not JSON' }],
  ['no token', { a: { refresh_token: 'r' } }],
])('%s counts as no login', async (_, values) => {
  const { process } = await keeper(values)

  expect(await process().access('a', { renew: never })).toBeUndefined()
})

test('a token that ends within half a minute is renewed, and the new one kept', async () => {
  const { process, secrets } = await keeper({ a: OLD })

  expect(await process().access('a', { renew: async () => NEW })).toBe('new')

  expect(JSON.parse(secrets.values.get('a') ?? '')).toEqual(NEW)
})

test('whoever waited for another one to renew takes what it got', async () => {
  const { process } = await keeper({ a: OLD })
  const renewals: string[] = []
  const renew = async ({ access_token }: { access_token: string }): Promise<Renewal> => {
    renewals.push(access_token)
    return NEW
  }

  const [one, two] = [process(), process()]
  const all = [one, one, two, two].map(each => each.access('a', { renew }))

  expect(await Promise.all(all)).toEqual(['new', 'new', 'new', 'new'])
  expect(renewals).toEqual(['old'])
})

test('a token that was rejected is renewed though it has not ended', async () => {
  const { process } = await keeper({ a: { ...OLD, expires_at: NOW + 3_600_000 } })

  expect(await process().access('a', { rejected: 'old', renew: async () => NEW })).toBe('new')
})

test('a login that is over is forgotten', async () => {
  const { process, secrets } = await keeper({ a: OLD })

  expect(await process().access('a', { renew: async () => ({ over: 'no' }) })).toEqual({ over: 'no' })

  expect(secrets.values.size).toBe(0)
})

test('a renewal that fails changes nothing, and the next one may work', async () => {
  const ended = { ...OLD, expires_at: NOW - 1 }
  const { process, secrets } = await keeper({ a: ended })
  const mine = process()

  await expect(mine.access('a', { renew: async () => Promise.reject(new Error('not now')) })).rejects.toThrow(
    'not now',
  )
  expect(JSON.parse(secrets.values.get('a') ?? '')).toEqual(ended)
  expect(await mine.access('a', { renew: async () => NEW })).toBe('new')
})

test('a renewal ahead of time that fails leaves the old token in use, unless it was rejected', async () => {
  const { process } = await keeper({ a: OLD })
  const renew = async () =>
    Promise.reject(failures.issuer_unreachable({ issuer: 'https://i.example', problem: 'not now' }))

  expect(await process().access('a', { renew })).toBe('old')
  await expect(process().access('a', { rejected: 'old', renew })).rejects.toThrow('not now')
})

test('a logout while somebody waits for the renewal is the last word', async () => {
  const { process, secrets } = await keeper({ a: OLD })
  const [slow, waiting] = [process(), process()]
  const renew = Promise.withResolvers<Renewal>()
  const begun = Promise.withResolvers<void>()
  const first = slow.access('a', {
    renew() {
      begun.resolve()
      return renew.promise
    },
  })
  await begun.promise
  const second = waiting.access('a', { renew: never })

  renew.resolve({ over: 'taken back' })

  expect(await first).toEqual({ over: 'taken back' })
  expect(await second).toBeUndefined()
  expect(secrets.values.size).toBe(0)
})
