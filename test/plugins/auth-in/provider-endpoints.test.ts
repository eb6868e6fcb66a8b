import { expect, test } from 'vitest'
import { createTokenChecker } from '../../../plugins/auth-in/tokens/token-checker.ts'
import { json, startIssuer } from './issuer.ts'

/** The endpoints of Google and GitHub, played by a server on loopback. */
async function arrange(provider: 'google' | 'github', answer: object, status = 200) {
  const server = await startIssuer()
  const places = { google: `${server.url}/tokeninfo`, github: server.url }
  const path = provider === 'google' ? '/tokeninfo' : '/applications/app-1/token'
  const seen: string[] = []
  const asked = provider === 'google' ? `${path}?access_token=opaque` : path
  server.instead.set(asked, (request, response, body) => {
    seen.push(`${request.method} ${request.headers.authorization ?? '-'} ${body}`)
    json(answer, status)(request, response, body)
  })
  const check = createTokenChecker(
    {
      audience: provider === 'google' ? 'client-1' : 'https://github.com',
      introspectionUrl: `${server.url}${path}`,
      clientId: 'app-1',
      clientSecret: 'secret',
      allowHttp: true,
      allowPrivateIp: true,
    },
    { places },
  )
  return { check, seen }
}

const soon = String(Math.floor(Date.now() / 1000) + 300)
const google = { aud: 'client-1', sub: '107', scope: 'openid', exp: soon, email: 'ada@example.com' }

test('a token that Google knows is accepted, as one of Google', async () => {
  const { check, seen } = await arrange('google', google)

  expect(await check('opaque')).toMatchObject({
    subject: '107',
    issuer: 'https://accounts.google.com',
    claims: { email: 'ada@example.com', exp: Number(soon) },
  })
  expect(seen).toEqual(['GET - '])
})

test.each<[string, object, number]>([
  ['that Google does not know', { error: 'invalid_token' }, 400],
  ['for another application', { ...google, aud: 'client-2' }, 200],
  ['that has expired', { ...google, exp: '1000' }, 200],
  ['without an end', { ...google, exp: undefined }, 200],
])('a token %s is refused', async (_, answer, status) => {
  const { check } = await arrange('google', answer, status)

  await expect(check('opaque')).rejects.toMatchObject({ code: 'token_invalid' })
})

const github = {
  app: { client_id: 'app-1' },
  scopes: ['read:user', 'repo'],
  user: { id: 7, login: 'ada', email: null },
  expires_at: null,
}

test('a token of GitHub is accepted with the credentials of its application', async () => {
  const { check, seen } = await arrange('github', github)

  expect(await check('opaque')).toMatchObject({
    subject: '7',
    issuer: 'https://github.com',
    claims: { login: 'ada', scope: 'read:user repo' },
  })
  const login = Buffer.from('app-1:secret').toString('base64')
  expect(seen).toEqual([`POST Basic ${login} {"access_token":"opaque"}`])
})

test.each<[string, object, number]>([
  ['that GitHub does not know', { message: 'Not Found' }, 404],
  ['of another application', { ...github, app: { client_id: 'app-2' } }, 200],
  ['of nobody', { ...github, user: null }, 200],
  ['that has expired', { ...github, expires_at: '2020-01-01T00:00:00Z' }, 200],
])('a token %s is refused', async (_, answer, status) => {
  const { check } = await arrange('github', answer, status)

  await expect(check('opaque')).rejects.toMatchObject({ code: 'token_invalid' })
})

test('while GitHub refuses our own credentials, tokens do not count as invalid', async () => {
  const { check } = await arrange('github', {}, 401)

  await expect(check('opaque')).rejects.toMatchObject({ code: 'auth_unavailable' })
})
