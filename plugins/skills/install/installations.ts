import { join } from 'node:path'
import { readFileIfThere } from '../../../src/lib/atomic-file.ts'
import { type Lock, tryLock } from '../../../src/lib/file-lock.ts'
import type { Log } from '../../../src/log.ts'
import { withFileLock } from '../../../src/with-file-lock.ts'
import type { ClientFolders } from './client-folders.ts'
import { toFileFailure } from './file-failure.ts'
import { type InstalledState, readInstalledState } from './installed-state.ts'
import { leaveSteps, type SkillGroups, setMember } from './membership.ts'
import type { Place } from './place.ts'
import { createPlan, type Plan } from './plan.ts'
import { projectLock } from './project-lock.ts'
import { createRecordStore, type RecordStore } from './record-store.ts'
import { sweepStaging, withStaging } from './staging.ts'
import { sweepTemporary } from './sweep-temporary.ts'
import { createTransactions } from './transaction.ts'

const LOCK_SECONDS = 120
const LOCK_NAME = 'keelson.lock.yaml'

/** The installed skills of this machine. Changes are atomic, and one at a time. */
export interface Installations {
  readonly folders: ClientFolders
  readonly groups: SkillGroups
  readonly store: RecordStore
  /** Calls `work` with a staging folder, which is removed afterwards. */
  withStaging<T>(work: (staging: string) => Promise<T>): Promise<T>
  /** Returns what is installed in a place. Recovers from an interrupted change first. */
  read(place: Place): Promise<InstalledState>
  /**
   * Plans a change and applies it, under the lock of all skill changes. A failure leaves everything as it
   * was before.
   */
  change<T>(place: Place, work: (plan: Plan, state: InstalledState) => Promise<T>): Promise<T>
}

export function createInstallations(options: {
  /** The folder of the records, the journal and the staging folders. */
  folder: string
  folders: ClientFolders
  groups: SkillGroups
  contentDigest: (folder: string) => Promise<string>
  log: Log
}): Installations {
  const { folder, folders, groups, contentDigest, log } = options
  const store = createRecordStore({ folder, log })
  const staging = join(folder, 'staging')
  const lock = join(folder, 'lock')
  const told = new Set<string>()
  const transactions = createTransactions({
    journal: join(folder, 'journal.json'),
    contentDigest,
    setMember: step => setMember(groups, step),
    log,
  })

  const locked = <T>(path: string, work: () => Promise<T>): Promise<T> =>
    withFileLock(path, work, { seconds: LOCK_SECONDS }).catch(error => {
      throw toFileFailure(error)
    })

  /**
   * Recovers from a change that a killed process has left, and removes its locks. It never waits: during a
   * change, readers see the state before it.
   */
  async function recover(place: Place): Promise<void> {
    await sweepStaging(staging)
    await sweepFiles(folder, place)
    const paths = place.scope === 'user' ? [lock] : [lock, await lockOf(place.root)]
    if (!(await transactions.isPending()) && !(await someAreThere(paths))) return
    const held: Lock[] = []
    try {
      for (const path of paths) {
        const mine = await tryLock(path)
        if (!mine) return
        held.push(mine)
      }
      await transactions.recover()
    } finally {
      for (const mine of held) await mine.release()
    }
  }

  /** Users with different homes may share a project. */
  const lockedIn = <T>(place: Place, work: () => Promise<T>): Promise<T> =>
    locked(lock, async () => {
      await transactions.recover()
      await sweepFiles(folder, place)
      return place.scope === 'user' ? work() : locked(await lockOf(place.root), work)
    })

  return {
    folders,
    groups,
    store,
    withStaging: work => withStaging(staging, work),
    async read(place) {
      await recover(place)
      const state = await readInstalledState(store, place)
      const { readFrom, path } = state.lock ?? {}
      if (readFrom !== undefined && readFrom !== path && !told.has(readFrom)) {
        log.info(`${readFrom} is read, because there is no ${LOCK_NAME} yet.`)
        told.add(readFrom)
      }
      return state
    },
    change: (place, work) =>
      lockedIn(place, async () => {
        const state = await readInstalledState(store, place)
        const plan = createPlan(state, { store, folders })
        const result = await work(plan, state)
        await leaveGroups(plan, state, { store, groups })
        if (!plan.isEmpty()) await transactions.run(plan.toChange())
        return result
      }),
  }
}

/** Removes the unfinished files of killed processes. */
async function sweepFiles(folder: string, place: Place): Promise<void> {
  for (const path of [folder, join(folder, 'installed')]) await sweepTemporary(path, () => true)
  if (place.scope === 'user') return
  const { folder: held, name } = await projectLock(place.root)
  await sweepTemporary(place.root, of => of === LOCK_NAME)
  await sweepTemporary(held, of => of === name)
}

/** Plans to remove skills from their groups that are not installed anywhere after the change. */
async function leaveGroups(
  plan: Plan,
  state: InstalledState,
  { store, groups }: Pick<Installations, 'store' | 'groups'>,
): Promise<void> {
  const gone = [...state.records.keys()].filter(name => !plan.records.has(name))
  if (gone.length === 0) return
  const elsewhere = new Set<string>()
  for (const place of await store.places()) {
    if (store.pathOf(place) === store.pathOf(state.place)) continue
    for (const name of (await store.read(place)).keys()) elsewhere.add(name)
  }
  for (const name of gone.filter(name => !elsewhere.has(name)))
    for (const step of await leaveSteps(groups, name)) plan.addGroupStep(step)
}

async function someAreThere(paths: readonly string[]): Promise<boolean> {
  for (const path of paths) if ((await readFileIfThere(path)) !== undefined) return true
  return false
}

const lockOf = async (root: string): Promise<string> => {
  const { folder, name } = await projectLock(root)
  return join(folder, name)
}
