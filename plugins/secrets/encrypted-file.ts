import { readFile } from 'node:fs/promises'
import { isMissing, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { withFileLock } from '../../src/with-file-lock.ts'
import { failures } from './failures.ts'
import {
  deriveKey,
  ForeignFile,
  isSameRecipe,
  type KdfCost,
  type KeyRecipe,
  newRecipe,
  readRecipe,
  seal,
  unseal,
} from './file-format.ts'
import { parseSecretMap, writeSecretMap } from './secret-map.ts'

/** Largest file that is read, in bytes. */
const MOST_BYTES = 32 * 1024 * 1024
const LOCK_SECONDS = 10

/** One encrypted file of named values. */
export interface EncryptedFile {
  readonly path: string
  /** Where its key comes from; undefined while there is no file. */
  source(): Promise<KeyRecipe['from'] | undefined>
  /** Makes an empty file under a new key, unless one is there. */
  create(from: KeyRecipe['from']): Promise<void>
  /** All values. Decrypted anew each time, since other processes write too. No file: no values. */
  read(): Promise<Map<string, string>>
  /**
   * Reads, changes and writes as one step. What `work` throws, and a kill at any moment, leaves the
   * old file. Nothing is written when nothing has changed.
   */
  change<T>(work: (secrets: Map<string, string>) => T): Promise<T>
}

export function createEncryptedFile(options: {
  path: string
  /** The password or the random key, asked for once. */
  secret: (from: KeyRecipe['from'], options: { isNew: boolean }) => Promise<string>
  cost?: KdfCost
}): EncryptedFile {
  const { path, secret, cost } = options
  const lockPath = `${path}.lock`
  let known: { recipe: KeyRecipe; key: Buffer } | undefined

  const locked = <T>(work: () => Promise<T>): Promise<T> =>
    withFileLock(lockPath, work, { seconds: LOCK_SECONDS })

  const bytes = (): Promise<Buffer | undefined> =>
    readFile(path).catch(error => {
      if (isMissing(error)) return undefined
      throw error
    })

  function recipeOf(found: Buffer): KeyRecipe {
    try {
      return readRecipe(found)
    } catch (error) {
      if (!(error instanceof ForeignFile)) throw error
      throw failures.secrets_file_foreign({ path, problem: error.message }, { cause: error })
    }
  }

  async function keyFor(recipe: KeyRecipe, { isNew = false } = {}): Promise<Buffer> {
    if (known && isSameRecipe(known.recipe, recipe)) return known.key
    const key = await deriveKey(await secret(recipe.from, { isNew }), recipe)
    known = { recipe, key }
    return key
  }

  async function open(found: Buffer): Promise<Map<string, string>> {
    const recipe = recipeOf(found)
    const content = unseal(found, await keyFor(recipe))
    const secrets = content && parseSecretMap(content)
    if (secrets) return secrets
    known = undefined // so that the next try may bring another password
    throw failures.secrets_file_locked({ path, secret: recipe.from })
  }

  async function write(secrets: ReadonlyMap<string, string>, recipe: KeyRecipe): Promise<void> {
    const content = writeSecretMap(secrets)
    if (content.length > MOST_BYTES) throw failures.secrets_too_large({ most: MOST_BYTES })
    await writeFileAtomic(path, seal(content, recipe, await keyFor(recipe)))
  }

  return {
    path,
    async source() {
      const found = await bytes()
      return found && recipeOf(found).from
    },
    async create(from) {
      const recipe = newRecipe(from, cost)
      if (await bytes()) return
      if (from === 'password') await keyFor(recipe, { isNew: true }) // before the lock: it may ask a person
      await locked(async () => {
        if (await bytes()) return
        await keyFor(recipe, { isNew: true })
        await write(new Map(), recipe)
      })
    },
    async read() {
      const found = await bytes()
      return found ? open(found) : new Map()
    },
    async change(work) {
      const before = await bytes()
      if (before) await open(before) // the slow part, and the right errors, before the lock
      return locked(async () => {
        const found = await bytes()
        if (!found) throw failures.secrets_not_set_up()
        const secrets = await open(found)
        const old = JSON.stringify([...secrets])
        const result = work(secrets)
        if (JSON.stringify([...secrets]) !== old) await write(secrets, recipeOf(found))
        return result
      })
    },
  }
}
