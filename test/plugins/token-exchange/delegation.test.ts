import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { claimsOf } from '../../support/exchange-grants.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { exchangeWorld } from './exchange-world.ts'

test('the token of a file acts for the caller, as the file is at each exchange', async () => {
  const path = join(await temporaryFolder(), 'actor')
  const { tokenOf, call, seen } = await exchangeWorld({ actor_token_file: path })
  const [first, second] = [await tokenOf('robot'), await tokenOf('other-robot')]

  await writeFile(path, `${first}\n`)
  await call(await tokenOf('ada'))
  await writeFile(path, second)
  await call(await tokenOf('bob'))

  expect(seen.map(({ authorization }) => claimsOf(authorization))).toMatchObject([
    { sub: 'ada', act: { sub: 'robot' } },
    { sub: 'bob', act: { sub: 'other-robot' } },
  ])
})

test('the client acts for the caller, with one token of its own for many exchanges', async () => {
  const { tokenOf, call, seen, provider } = await exchangeWorld({ actor_is_client: true })

  await call(await tokenOf('ada'))
  await call(await tokenOf('bob'))

  expect(seen.map(({ authorization }) => claimsOf(authorization))).toMatchObject([
    { sub: 'ada', act: { sub: 'service' } },
    { sub: 'bob', act: { sub: 'service' } },
  ])
  const own = provider.asked.filter(({ form }) => form.get('grant_type') === 'client_credentials')
  expect(own).toHaveLength(1)
})

test('nobody is called for without the actor', async () => {
  const { tokenOf, call, seen, exchanges, proxy } = await exchangeWorld({
    actor_token_file: '/does/not/exist',
  })
  expect((await call(await tokenOf('ada'))).status).toBe(502)
  expect([seen.length, exchanges()]).toEqual([0, 0])
  expect(proxy.logged.join()).toContain("the file with the actor's token cannot be read")
})
