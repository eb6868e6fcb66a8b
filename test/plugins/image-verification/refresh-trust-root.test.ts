import { beforeAll, expect, test } from 'vitest'
import { refreshTrustRoot } from '../../../plugins/image-verification/refresh-trust-root.ts'
import { testSigstore } from '../../support/sigstore.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { tufMirror } from './tuf-mirror.ts'

let one: unknown
let two: unknown

beforeAll(async () => {
  one = (await testSigstore()).trustRoot
  two = (await testSigstore()).trustRoot
})

async function seeded() {
  const mirror = await tufMirror()
  const cache = await temporaryFolder()
  await mirror.seed(cache)
  return { mirror, refresh: () => refreshTrustRoot(mirror.url, cache) }
}

test('the newest trust root is fetched, and again when there is a newer one', async () => {
  const { mirror, refresh } = await seeded()
  mirror.publish(one)
  expect(await refresh()).toEqual(one)
  mirror.publish(two, { version: 2 })
  expect(await refresh()).toEqual(two)
})

test('a trust root that is not the one that was signed is refused', async () => {
  const { mirror, refresh } = await seeded()
  mirror.publish(one, { sent: JSON.stringify(two) })
  await expect(refresh()).rejects.toThrow()
})

test('an older state than one seen before is refused', async () => {
  const { mirror, refresh } = await seeded()
  mirror.publish(two, { version: 2 })
  await refresh()
  mirror.publish(one, { version: 1 })
  await expect(refresh()).rejects.toThrow()
})

test('what somebody else signed is refused', async () => {
  const { mirror, refresh } = await seeded()
  const evil = await tufMirror()
  evil.publish(one)
  mirror.answer = async (got, response) => {
    const answer = await fetch(evil.url + got.path)
    response.writeHead(answer.status).end(await answer.text())
  }
  await expect(refresh()).rejects.toThrow()
})

test('a mirror that never responds is given up after seconds', async () => {
  const { mirror, refresh } = await seeded()
  mirror.answer = () => undefined
  const begun = performance.now()
  await expect(refresh()).rejects.toThrow()
  expect(performance.now() - begun).toBeLessThan(10_000)
})

test('garbage is refused', async () => {
  const { mirror, refresh } = await seeded()
  mirror.answer = (_, response) => response.end('<html>')
  await expect(refresh()).rejects.toThrow()
})
