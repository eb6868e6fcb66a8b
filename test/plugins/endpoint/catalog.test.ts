import { expect, test } from 'vitest'
import { catalogKey, createCatalog } from '../../../plugins/endpoint/server/catalog.ts'

const keyOf = (server: string, initialize = '{}', authorization?: string) =>
  catalogKey(server, { initialize, authorization })

test('what a server has told is known as long as a session with the same words is open', () => {
  const catalog = createCatalog()
  const key = keyOf('a')
  const first = catalog.enter(key, 'told')
  first.offers.lists.set('tools/list', ['{"name":"x"}'])
  const second = catalog.enter(key, 'told')
  expect(second.offers).toBe(first.offers)
  first.leave()
  first.leave()
  expect(catalog.find(key)?.lists.get('tools/list')).toEqual(['{"name":"x"}'])
  second.leave()
  expect(catalog.find(key)).toBeUndefined()
})

test('clients with other capabilities or logins, and other servers, are told for themselves', () => {
  const catalog = createCatalog()
  catalog.enter(keyOf('a'), 'told')
  expect(catalog.find(keyOf('a', '{"capabilities":{}}'))).toBeUndefined()
  expect(catalog.find(keyOf('b'))).toBeUndefined()
  expect(catalog.find(keyOf('a', '{}', 'Bearer x'))).toBeUndefined()
})
