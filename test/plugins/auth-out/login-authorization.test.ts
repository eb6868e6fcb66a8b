import { expect, onTestFinished, test } from 'vitest'
import { loginAuthorizationOf } from '../../../plugins/auth-out/logins/login-authorization.ts'
import { readChallenge } from '../../../plugins/auth-out/oauth/challenge.ts'
import type { App } from '../../../src/app.ts'
import { createLog } from '../../../src/log.ts'

const CONFIG = {
  schema_version: 'v0.1.0',
  name: 'far',
  transport: 'streamable-http',
  port: 0,
  remote_url: 'https://mcp.invalid/mcp',
} as const
const REFUSAL = { status: 401, wwwAuthenticate: 'Bearer', again: false } as const

/** Requests to a server whose login gives another token whenever one is asked for. */
async function loggedIn() {
  const rejected: (string | undefined)[] = []
  const services = {
    remoteLogins: {
      place: async () => ({ key: 'login', settings: {} }),
      isCurrent: () => true,
      mark: async () => undefined,
      token: async (_: unknown, options: { rejected?: string }) => {
        rejected.push(options.rejected)
        return { token: { accessToken: `token-${rejected.length}`, scopes: [] } }
      },
    },
    oauthEngine: { detect: async () => ({ kind: 'none' }), readChallenge },
    settings: { get: async () => undefined },
  }
  const app = { env: {}, service: async (name: keyof typeof services) => services[name] }
  const log = createLog({ write: () => undefined, human: false, debug: false })
  const authorization = await loginAuthorizationOf(app as unknown as App, CONFIG, {
    log,
    setAccess: () => undefined,
  })
  onTestFinished(() => authorization.close())
  await authorization.refused(REFUSAL, undefined)
  return { authorization, rejected }
}

test('a server that refuses every token gets one more, and no refresh for each request', async () => {
  const { authorization, rejected } = await loggedIn()

  const first = await authorization.refused(REFUSAL, 'Bearer token-1')
  const others = []
  for (let request = 0; request < 5; request++) {
    others.push(await authorization.refused(REFUSAL, 'Bearer token-2'))
  }

  expect(first).toBeUndefined()
  expect(others.map(problem => problem?.status)).toEqual(Array(5).fill('unauthenticated'))
  expect(rejected).toEqual([undefined, 'token-1'])
})

test('a refusal of a token that has been replaced meanwhile is no refusal of the new one', async () => {
  const { authorization } = await loggedIn()
  await authorization.refused(REFUSAL, 'Bearer token-1')

  expect(await authorization.refused(REFUSAL, 'Bearer token-1')).toBeUndefined()
})
