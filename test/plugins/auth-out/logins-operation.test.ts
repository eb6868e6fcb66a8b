import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLoginMemory } from '../../../plugins/auth-out/logins/login-memory.ts'
import { createLoginNotes } from '../../../plugins/auth-out/logins/login-notes.ts'
import type { RememberedLogin } from '../../../plugins/auth-out/logins/login-record.ts'
import { createLoginsOperation } from '../../../plugins/auth-out/logins/logins-operation.ts'
import { createMachineTokens } from '../../../plugins/auth-out/logins/machine-tokens.ts'
import { createSupervisorMemory } from '../../../plugins/auth-out/logins/supervisor-memory.ts'
import { plainHttpWarning } from '../../../plugins/auth-out/plain-http-warning.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Supervisor } from '../../../src/contracts/workload.ts'

const ISSUER = 'https://issuer.invalid'

/** A login whose access token ends in so many milliseconds. */
function loginFor(ms: number, refreshToken?: string): RememberedLogin {
  const [origin, resource] = ['https://mcp.invalid', 'https://mcp.invalid/mcp']
  return {
    record: {
      origin,
      discovery: {
        ...{ issuer: ISSUER, server: { issuer: ISSUER }, resource, scopes: [] },
        ...{ found: 'origin', mayBePrivate: false },
      },
      client: { kind: 'registered', issuer: ISSUER, clientId: 'keelson', authMethod: 'none' },
      refreshToken,
      scopes: [],
      loggedInAt: '2026-01-01T00:00:00.000Z',
    },
    tokens: { accessToken: 'a', refreshToken, expiresAt: Date.now() + ms, scopes: [] },
  }
}

async function notesFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-logins-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function operation(folder?: string) {
  const notes = createLoginNotes(folder ?? (await notesFolder()))
  return { notes, logins: createLoginsOperation(createLoginMemory(notes)) }
}

test.each([
  ['a login that can be renewed', loginFor(-1000, 'r'), true],
  ['an access token that is good', loginFor(600_000), true],
  ['an access token that has ended', loginFor(-1000), false],
])('the supervisor stays for %s: %#', async (_, login, stays) => {
  const { logins } = await operation()
  expect(logins.isNeeded()).toBe(false)

  await logins.handle({ ask: 'set', logins: [['key', login]] })

  expect(logins.isNeeded()).toBe(stays)
})

test('what one supervisor takes along is what the next one has, and the note names that one', async () => {
  const folder = await notesFolder()
  const [before, after] = [await operation(folder), await operation(folder)]
  const login = loginFor(600_000, 'r')
  expect((await operation()).logins.takeAlong()).toBeUndefined()
  await before.logins.handle({ ask: 'set', logins: [['key', login]] })

  await after.logins.handle(JSON.parse(JSON.stringify(before.logins.takeAlong())))

  expect(await after.logins.handle({ ask: 'list' })).toEqual({ logins: [['key', login]] })
  expect((await after.notes.read('key'))?.keptBy).toMatch(new RegExp(`^${process.pid}\\b`))
  await after.logins.handle({ ask: 'remove', key: 'key' })
  expect(await after.logins.handle({ ask: 'list' })).toEqual({ logins: [] })
})

test.each([
  ['was ended', undefined],
  ['was replaced', '2026-01-01T00:00:01.000Z'],
])('a login that %s while the supervisor was replaced does not come back', async (_, loggedInAt) => {
  const folder = await notesFolder()
  const [before, after] = [await operation(folder), await operation(folder)]
  await before.logins.handle({ ask: 'set', logins: [['key', loginFor(600_000, 'r')]] })
  const taken = before.logins.takeAlong()
  if (loggedInAt === undefined) await after.notes.remove('key')
  else await after.notes.write('key', { loggedInAt })

  await after.logins.handle(taken)

  expect(await after.logins.handle({ ask: 'list' })).toEqual({ logins: [] })
  expect((await after.notes.read('key'))?.loggedInAt).toBe(loggedInAt)
})

test('a login that comes when the others have been handed over is refused, so that the next supervisor gets it', async () => {
  const folder = await notesFolder()
  const [before, after] = [await operation(folder), await operation(folder)]
  before.logins.takeAlong()
  const login = loginFor(600_000, 'r')
  const asked: number[] = []
  const memory = createSupervisorMemory({
    call: async (_name: string, input: unknown) => {
      asked.push(1)
      return (asked.length < 3 ? before : after).logins.handle(input)
    },
  } as unknown as Supervisor)

  await memory.set('key', login)

  expect([asked.length, await memory.find('key')]).toEqual([3, login])
})

test.each([
  ['http://far.example/mcp', true],
  ['https://far.example/mcp', false],
  ['http://127.0.0.1/mcp', false],
])('whoever logs in to %s is warned, whatever the run config says: %s', (remote_url, isWarned) => {
  const config = { name: 'far', remote_url } as RunConfig
  expect(plainHttpWarning(config)).toBeUndefined()
  expect(plainHttpWarning(config, { logsIn: true }) !== undefined).toBe(isWarned)
})

test('tokens of machines are forgotten when they have ended and others are got', async () => {
  let now = 0
  const place = (key: string) => ({ key, discovery: { issuer: ISSUER }, settings: {}, reach: {} }) as never
  const engine = {
    refresh: async () => ({
      kind: 'renewed',
      tokens: { accessToken: 'a', scopes: [], expiresAt: now + 1000 },
    }),
  } as never
  const machine = createMachineTokens(engine, () => now)
  const got = await machine.get(place('old'))
  if (!('token' in got)) throw new Error('no token')
  expect(machine.has('old', got.token)).toBe(true)
  now = 2000
  await machine.get(place('new'))
  expect(machine.has('old', got.token)).toBe(false)
})
