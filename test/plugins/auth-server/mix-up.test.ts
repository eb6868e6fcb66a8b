import { expect, test } from 'vitest'
import { authWorld } from './auth-world.ts'
import { type PlainProvider, plainProvider } from './plain-provider.ts'
import { upstreamOf } from './upstream-world.ts'

const configOf = (name: string, { origin }: PlainProvider) => ({
  name,
  type: 'oauth2' as const,
  oauth2_config: {
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    ...{ client_id: 'app', client_secret_env_var: 'APP_SECRET' },
    userinfo: { endpoint_url: `${origin}/user` },
  },
})

const codesSentTo = ({ asked }: PlainProvider) => asked.filter(({ path }) => path === '/token').length

/** People log in at one provider and then at another. Returns what a browser and the providers are asked. */
async function world() {
  const [first, second] = [await plainProvider(), await plainProvider()]
  const options = { env: { APP_SECRET: 'app-secret' } }
  const upstreams = [
    await upstreamOf(configOf('first', first), options),
    await upstreamOf(configOf('second', second), options),
  ]
  const made = await authWorld({ upstreams })
  const tab = made.browser()
  const { url: begun } = await tab.follow(made.authorizeUrl(await made.registered()))
  expect(begun.startsWith(`${first.origin}/authorize?`)).toBe(true)
  /** The first provider has let the person in, and they are at the second. */
  const goOn = async () => {
    const { url } = await tab.follow(await first.visit(begun))
    expect(url.startsWith(`${second.origin}/authorize?`)).toBe(true)
    return url
  }
  return { ...made, first, second, tab, begun, goOn }
}

/** What a provider makes of a login that was begun at it: one at another provider, which knows where people come back to. */
const passedOn = (begun: string, known: string): string => {
  const url = new URL(begun)
  url.searchParams.set('redirect_uri', known)
  return url.href
}

test('each provider sends people back to a place of its own', async () => {
  const { begun, goOn, second, tab, origin } = await world()
  expect(new URL(begun).searchParams.get('redirect_uri')).toBe(`${origin}/oauth/callback`)
  const next = await goOn()
  expect(new URL(next).searchParams.get('redirect_uri')).toBe(`${origin}/oauth/callback/second`)
  const { response } = await tab.follow(await second.visit(next))
  expect(response.status).toBe(200)
})

test('a code of the second provider is not sent to the first, which had the person log in there (mix-up)', async () => {
  const { begun, first, second, tab, origin, stored } = await world()
  const mixed = await second.visit(passedOn(begun, `${origin}/oauth/callback/second`))
  const { response } = await tab.follow(mixed)
  expect(response.status).toBe(400)
  expect([codesSentTo(first), codesSentTo(second)]).toEqual([0, 0])
  expect(stored().filter(({ kind }) => kind !== 'client')).toEqual([])
  // The login itself is not harmed by it.
  expect((await tab.follow(await first.visit(begun))).url.startsWith(`${second.origin}/authorize?`)).toBe(
    true,
  )
})

test('a code of the first provider is not sent to the second, which had the person log in there (mix-up)', async () => {
  const { first, second, tab, origin, goOn } = await world()
  const next = await goOn()
  const mixed = await first.visit(passedOn(next, `${origin}/oauth/callback`))
  expect((await tab.follow(mixed)).response.status).toBe(400)
  expect([codesSentTo(first), codesSentTo(second)]).toEqual([1, 0])
  expect((await tab.follow(await second.visit(next))).response.status).toBe(200)
})

test('a state is good in its own browser only, at its own provider only', async () => {
  const { begun, first, browser, goOn, second } = await world()
  const back = await first.visit(begun)
  expect((await browser().follow(back)).response.status).toBe(400)
  const next = await second.visit(await goOn())
  expect((await browser().follow(next)).response.status).toBe(400)
  expect(codesSentTo(second)).toBe(0)
})
