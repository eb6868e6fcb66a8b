import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { createTrustRoots, shipped, shippedAt } from '../../../plugins/image-verification/trust-roots.ts'
import { testSigstore } from '../../support/sigstore.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
let newer: unknown

beforeAll(async () => {
  newer = (await testSigstore()).trustRoot
})

/** Trust roots with a clock of the test, and a mirror that answers as told. */
async function world(answer: () => unknown, folder?: string) {
  const cacheFolder = folder ?? (await temporaryFolder())
  const state = {
    now: shippedAt() + DAY,
    asked: [] as string[],
    notes: [] as string[],
    warnings: [] as string[],
  }
  const make = () =>
    createTrustRoots({
      cacheFolder,
      refresh: async mirror => {
        state.asked.push(mirror)
        return answer()
      },
      debug: note => state.notes.push(note),
      warn: warning => state.warnings.push(warning),
      now: () => state.now,
    })
  /** The public key of the certificate log tells which root it is. */
  const rootNow = async () => {
    const found = await make().find(undefined)
    if ('problem' in found) throw new Error(found.problem)
    const keys = found.material.ctlogs.map(log =>
      log.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    )
    const sameAs = (document: unknown) => JSON.stringify(document).includes(keys[0] ?? 'none')
    return sameAs(newer) ? 'newer' : sameAs(shipped()) ? 'shipped' : 'other'
  }
  return { cacheFolder, state, rootNow, make }
}

const offline = () => {
  throw new Error('no network')
}

test('without any network the shipped root is used, and the next try is an hour away', async () => {
  const { state, rootNow } = await world(offline)

  expect(await rootNow()).toBe('shipped')
  expect(await rootNow()).toBe('shipped')
  expect(state.asked).toEqual(['https://tuf-repo-cdn.sigstore.dev'])
  expect(state.notes).toEqual([expect.stringContaining('no network')])
  state.now += HOUR
  await rootNow()
  expect(state.asked).toHaveLength(2)
})

test('a newer root is fetched once a day and kept', async () => {
  const { state, rootNow } = await world(() => newer)

  expect(await rootNow()).toBe('newer')
  state.now += 23 * HOUR
  expect(await rootNow()).toBe('newer')
  expect(state.asked).toHaveLength(1)
  state.now += HOUR
  await rootNow()
  expect(state.asked).toHaveLength(2)
})

test('what was fetched stays in use when the next fetch fails', async () => {
  let isOffline = false
  const { state, rootNow } = await world(() => (isOffline ? offline() : newer))
  await rootNow()
  isOffline = true
  state.now += 48 * HOUR

  expect(await rootNow()).toBe('newer')
  expect(await rootNow()).toBe('newer')
  expect(state.asked).toHaveLength(2)
})

test.each([['nonsense'], [{ tlogs: 'no list' }], [{ certificateAuthorities: [{}] }], [null]])(
  'a response that is not a trust root (%j) changes nothing',
  async answer => {
    const { rootNow } = await world(() => answer)
    expect(await rootNow()).toBe('shipped')
    expect(await rootNow()).toBe('shipped')
  },
)

test.each(['', '{', '[]', '{"triedAt":1e15,"succeeded":true,"root":{"tlogs":7}}'])(
  'a cache that holds %j is made anew',
  async text => {
    const { cacheFolder, rootNow } = await world(() => newer)
    await writeFile(join(cacheFolder, 'tuf-repo-cdn.sigstore.dev.json'), text)

    expect(await rootNow()).toBe('newer')
    const kept = JSON.parse(await readFile(join(cacheFolder, 'tuf-repo-cdn.sigstore.dev.json'), 'utf8'))
    expect(kept.root).toEqual(newer)
  },
)

test.each([
  ['that was shipped', false],
  ['that was fetched', true],
])(
  'a root %s causes a warning after two months, and is not trusted after half a year',
  async (_, isFetched) => {
    let isOffline = !isFetched
    const { state, rootNow, make } = await world(() => (isOffline ? offline() : newer))
    await rootNow()
    const begun = isFetched ? state.now : shippedAt()
    isOffline = true

    state.now = begun + 60 * DAY
    await rootNow()
    expect(state.warnings).toEqual([])
    state.now = begun + 61 * DAY
    expect(await rootNow()).toBe(isFetched ? 'newer' : 'shipped')
    expect(state.warnings).toEqual([expect.stringMatching(/61 days old.*for 121 more days/)])
    state.now = begun + 182 * DAY
    await rootNow()
    state.now = begun + 183 * DAY
    expect(await make().find(undefined)).toEqual({
      problem: expect.stringMatching(/183 days old.*KEELSON_SIGSTORE_TRUSTED_ROOT/),
    })

    isOffline = false
    state.now += HOUR
    expect(await rootNow()).toBe('newer')
  },
)

test('the shipped root replaces one that was fetched before it was made', async () => {
  const { cacheFolder, rootNow, state } = await world(offline)
  const kept = { triedAt: state.now, succeeded: false, root: newer, fetchedAt: shippedAt() - DAY }
  await writeFile(join(cacheFolder, 'tuf-repo-cdn.sigstore.dev.json'), JSON.stringify(kept))

  expect(await rootNow()).toBe('shipped')
})

test('a clock that was set back does not keep an old root', async () => {
  const { state, rootNow } = await world(() => newer)
  await rootNow()
  state.now -= 1000 * HOUR
  await rootNow()
  expect(state.asked).toHaveLength(2)
})

test('verification works when the cache cannot be written', async () => {
  const folder = await temporaryFolder()
  const blocked = join(folder, 'blocked')
  await mkdir(join(blocked, 'tuf-repo-cdn.sigstore.dev.json'), { recursive: true })
  const { rootNow } = await world(() => newer, blocked)
  expect(await rootNow()).toBe('newer')
})

test.each(['tuf-repo-cdn.sigstore.dev', 'https://tuf-repo-cdn.sigstore.dev/', ''])(
  '%j is the public instance',
  async url => {
    const { make } = await world(offline)
    expect(await make().find(url)).toMatchObject({ isGithub: false })
  },
)

test.each(['tuf-repo.github.com', 'https://evil.example.com'])(
  '%j has no root here, and nobody is asked',
  async url => {
    const { make, state } = await world(() => newer)
    expect(await make().find(url)).toEqual({
      problem: expect.stringContaining('KEELSON_SIGSTORE_TRUSTED_ROOT'),
    })
    expect(state.asked).toEqual([])
  },
)

test.each([
  ['that is not there', undefined],
  ['that is no trust root', '{"tlogs":[{}]}'],
])("a file of the user's %s is a failure that names it", async (_, text) => {
  const folder = await temporaryFolder()
  const file = join(folder, 'root.json')
  if (text) await writeFile(file, text)
  const roots = createTrustRoots({
    ...{ cacheFolder: folder, file, debug: () => undefined, warn: () => undefined },
  })

  await expect(roots.find(undefined)).rejects.toMatchObject({
    code: 'invalid_file',
    message: expect.stringContaining(file),
  })
})
