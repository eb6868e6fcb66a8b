import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import type { Upstream } from '../../../plugins/auth-server/upstream/upstream.ts'
import { authWorld } from './auth-world.ts'

const PEOPLE = 1000
const personOf = (person: number) => `person-${person}`

/** A provider that lets everybody in at once; the code that it sends back says who they are. */
function crowdUpstream(): Upstream {
  return {
    ...{ name: 'crowd', id: 'crowd https://provider.example' },
    authorizationUrl: async ({ redirectUri, state }) => ({
      url: `https://provider.example/login?${new URLSearchParams({ back: `${redirectUri}?state=${state}` })}`,
      checks: { state },
    }),
    async finish({ callback, checks }) {
      if (callback.searchParams.get('state') !== checks.state) throw new Error('the wrong login is finished')
      const subject = callback.searchParams.get('code') ?? ''
      return { subject, claims: {}, tokens: { accessToken: `token of ${subject}` } }
    },
    refresh: async tokens => tokens,
  }
}

test('of a thousand people who log in at once, each gets a token of their own or is told to wait', async () => {
  const world = await authWorld({ upstreams: [crowdUpstream()] })
  const { registered, browser, authorizeUrl, token, codeFields, refresh, stored } = world
  const clients = await Promise.all(Array.from({ length: 4 }, () => registered()))

  /** Returns the tokens, or the status of a refusal. */
  async function logIn(person: number) {
    const client = clients[person % clients.length] ?? ''
    const tab = browser()
    const begun = await tab.follow(authorizeUrl(client, { state: personOf(person) }))
    if (begun.response.status !== 303) return { client, refused: begun.response.status }
    const back = new URL(new URL(begun.url).searchParams.get('back') ?? '')
    back.searchParams.set('code', personOf(person))
    const { response } = await tab.follow(back.href)
    if (response.status !== 200) return { client, refused: response.status }
    const agreed = new URL((await tab.press(await response.text(), 'allow')).url)
    expect(agreed.searchParams.get('state')).toBe(personOf(person))
    const reply = await token(codeFields(client, agreed.searchParams.get('code') ?? ''))
    if (reply.status !== 200) return { client, refused: reply.status }
    return { client, tokens: (await reply.json()) as { access_token: string; refresh_token: string } }
  }
  const logins = await Promise.all(Array.from({ length: PEOPLE }, (_, person) => logIn(person)))

  const grants = new Set<unknown>()
  for (const [person, { client, refused, tokens }] of logins.entries()) {
    if (!tokens) {
      expect([429, 503], personOf(person)).toContain(refused)
      continue
    }
    const claims = decodeJwt(tokens.access_token)
    expect(claims).toMatchObject({ sub: personOf(person), client_id: client })
    grants.add(claims.tsid)
  }
  expect(grants.size).toBe(logins.filter(({ tokens }) => tokens).length)
  expect(grants.size).toBeGreaterThan(0)
  expect(stored().filter(({ kind }) => kind === 'pending')).toEqual([])
  expect(stored().filter(({ kind }) => kind === 'grant')).toHaveLength(grants.size)

  const [person, last] = [...logins.entries()].findLast(([, { tokens }]) => tokens) ?? []
  const renewed = await refresh(last?.client ?? '', last?.tokens?.refresh_token ?? '')
  const { access_token: next } = (await renewed.json()) as { access_token: string }
  expect(decodeJwt(next).sub).toBe(personOf(person ?? -1))
})
