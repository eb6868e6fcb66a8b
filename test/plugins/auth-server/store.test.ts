import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createMemoryStore } from '../../../plugins/auth-server/storage/memory-store.ts'
import { sealStore } from '../../../plugins/auth-server/storage/sealed-store.ts'
import { openSqliteStore } from '../../../plugins/auth-server/storage/sqlite-store.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { storeContract } from './store-contract.ts'

function clock() {
  let time = 1_700_000_000_000
  return {
    now: () => time,
    async pass(ms: number) {
      time += ms
    },
  }
}

storeContract('in memory', async capacity => {
  const { now, pass } = clock()
  const store = createMemoryStore({ now, capacity })
  return { store, other: store, pass }
})

storeContract('in a file', async capacity => {
  const { now, pass } = clock()
  const path = join(await temporaryFolder(), 'store', 'auth.sqlite')
  const open = async () => {
    const store = await openSqliteStore({ path, log: console, now, capacity })
    onTestFinished(() => store.close())
    return store
  }
  return { store: await open(), other: await open(), pass }
})

storeContract('with seals of two secrets, in another order each', async capacity => {
  const { now, pass } = clock()
  const raw = createMemoryStore({ now, capacity })
  return { store: sealStore(raw, ['one', 'two']), other: sealStore(raw, ['two', 'one']), pass }
})
