import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLoginKeeper } from '../../../plugins/auth-out/logins/login-keeper.ts'
import { createLoginMemory } from '../../../plugins/auth-out/logins/login-memory.ts'
import { createLoginNotes } from '../../../plugins/auth-out/logins/login-notes.ts'
import { createLoginStore } from '../../../plugins/auth-out/logins/login-store.ts'
import type { Discovery, LoginRequest, OAuthEngine } from '../../../plugins/auth-out/oauth/types.ts'
import { failures } from '../../../src/errors.ts'

const [FIRST, OTHER] = ['https://first.example', 'https://other.example']
const REACH = { target: 'https://mcp.example/mcp' }
const SETTINGS = { clientId: 'mine', clientSecret: 'secret-of-the-user' }

/** Logins where the server names an issuer, and which issuers got the secret of the client. */
async function logins() {
  let issuer = FIRST
  const told: string[] = []
  const engine = {
    discover: async (): Promise<Discovery> => ({
      ...{ issuer, server: { issuer }, found: 'resource-metadata', resource: REACH.target },
      ...{ scopes: [], mayBePrivate: false },
    }),
    async login({ discovery, settings }: LoginRequest) {
      if (settings.clientSecret) told.push(discovery.issuer)
      const client = { kind: 'given', issuer, clientId: 'mine', authMethod: 'client_secret_basic' } as const
      return { tokens: { accessToken: 'a', refreshToken: 'r', scopes: [] }, client }
    },
  } as unknown as OAuthEngine
  const folder = await mkdtemp(join(tmpdir(), 'keelson-logins-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const notes = createLoginNotes(folder)
  const memory = createLoginMemory(notes)
  const store = createLoginStore(() => Promise.reject(failures.service_missing({ service: 'secrets' })), {
    process: memory,
    supervisor: memory,
  })
  const keeper = createLoginKeeper({ engine, store, folder, notes })
  const logIn = async (settings: object, asked: { isTyped?: boolean } = {}) => {
    const place = await keeper.place({ settings, ...asked }, REACH)
    await keeper.login(place, {
      person: { show: () => undefined },
      waitMs: 1000,
      anew: true,
      memory: 'process',
    })
  }
  return {
    logIn,
    told,
    name(other: string) {
      issuer = other
    },
  }
}

test('the secret of a client goes to no other issuer that the server names later', async () => {
  const { logIn, name, told } = await logins()
  await logIn(SETTINGS)
  name(OTHER)

  await expect(logIn(SETTINGS)).rejects.toMatchObject({
    code: 'client_of_other_issuer',
    message: expect.stringMatching(/other\.example/),
  })

  expect(told).toEqual([FIRST])
})

test('an issuer that the person types is the new one', async () => {
  const { logIn, name, told } = await logins()
  await logIn(SETTINGS)
  name(OTHER)

  await logIn(SETTINGS, { isTyped: true })
  await logIn(SETTINGS)

  expect(told).toEqual([FIRST, OTHER, OTHER])
})

test('a client without a secret may log in wherever the server says', async () => {
  const { logIn, name } = await logins()
  await logIn({ clientId: 'mine' })
  name(OTHER)

  await expect(logIn({ clientId: 'mine' })).resolves.toBeUndefined()
})
