import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createConsents } from '../../../plugins/secrets/consents.ts'
import { createLog } from '../../../src/log.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const origin = { registry: 'https://a.example', server: 'com.a/x' }
const wanted = { ...origin, variable: 'TOKEN' }

async function consents() {
  const state = await temporaryFolder()
  const warnings: string[] = []
  const log = createLog({ write: line => warnings.push(line), human: true, debug: false })
  const make = () => createConsents({ paths: { state }, log })
  return { path: join(state, 'secret-consents.json'), warnings, make, store: make() }
}

test('a consent counts for its registry, server and variable alone, and is there for the next process', async () => {
  const { store, make } = await consents()
  expect(await store.find(wanted)).toBeUndefined()

  await store.add({ ...wanted, secret: 'MINE' })

  expect(await make().find(wanted)).toBe('MINE')
  expect(await store.find({ ...wanted, registry: 'https://b.example' })).toBeUndefined()
  expect(await store.find({ ...wanted, server: 'com.b/x' })).toBeUndefined()
  expect(await store.find({ ...wanted, variable: 'OTHER' })).toBeUndefined()
  expect(await store.of(origin)).toEqual([{ ...wanted, secret: 'MINE' }])
})

test('a newer consent replaces the one before, and a revoked secret is given to no server', async () => {
  const { store } = await consents()
  await store.add({ ...wanted, secret: 'OLD' })
  await store.add({ ...wanted, secret: 'NEW' })
  await store.add({ ...wanted, server: 'com.b/x', secret: 'NEW' })
  expect(await store.find(wanted)).toBe('NEW')

  await store.withdraw('NEW')

  expect(await store.find(wanted)).toBeUndefined()
  expect(await store.find({ ...wanted, server: 'com.b/x' })).toBeUndefined()
})

test('of several that are given at a time none is lost, and only the user can read them', async () => {
  const { store, make, path } = await consents()
  const variables = Array.from({ length: 10 }, (_, i) => `V${i}`)

  await Promise.all(variables.map(variable => make().add({ ...wanted, variable, secret: 'S' })))

  expect((await store.of(origin)).map(({ variable }) => variable).sort()).toEqual(variables)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test.each(['', '{', '[]', '{"consents":{}}', '{"consents":[{"registry":"https://a.example"}]}'])(
  'a file that holds %j is not a consent',
  async text => {
    const { store, path, warnings } = await consents()
    await writeFile(path, text)

    expect(await store.find(wanted)).toBeUndefined()
    expect(warnings.join()).toContain('asked for again')
    await store.add({ ...wanted, secret: 'S' })
    expect(JSON.parse(await readFile(path, 'utf8')).consents).toHaveLength(1)
  },
)
