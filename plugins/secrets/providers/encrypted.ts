import { randomBytes } from 'node:crypto'
import type { SecretsContext, SecretsProvider, SecretsProviderOffer } from '../../../src/contracts/secrets.ts'
import { isFailure } from '../../../src/errors.ts'
import { createEncryptedFile } from '../encrypted-file.ts'
import { failures } from '../failures.ts'
import type { KdfCost, KeyRecipe } from '../file-format.ts'
import type { Keyring } from '../keyring.ts'
import { askPassword, findPassword } from '../password.ts'
import { findSessionPassword, type SessionPassword } from '../session-password.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Where the encrypted provider keeps its file, in the data folder. */
export const ENCRYPTED_FILE = 'secrets_encrypted'

export const encryptedOffer: SecretsProviderOffer = {
  type: 'encrypted',
  description: 'a file of this machine, encrypted with a key in its keyring or with a password',
  envFallback: true,
  async make({ paths, env }, context) {
    const { join } = await import('node:path')
    const { openKeyring } = await import('../keyring.ts')
    const path = join(paths.data, ENCRYPTED_FILE)
    const session = findSessionPassword(paths, env)
    return createEncryptedProvider({ path, env, context, keyring: openKeyring, session })
  },
}

/** Keeps values in one encrypted file. */
export function createEncryptedProvider(options: {
  path: string
  env: Env
  context: SecretsContext
  /** Fails with `keyring_unavailable`. */
  keyring: () => Promise<Keyring>
  /** Absent where no folder ends with the session. */
  session?: SessionPassword | undefined
  cost?: KdfCost
}): SecretsProvider {
  const { path, env, context, keyring, session, cost } = options
  let typed: string | undefined
  const file = createEncryptedFile({
    path,
    ...(cost ? { cost } : {}),
    secret: (from, { isNew }) => (from === 'key' ? keyOf(isNew) : passwordOf(isNew)),
  })

  const lastingPassword = () => findPassword({ env, file: context.passwordFile })
  const knownPassword = async () => (await lastingPassword()) ?? typed ?? session?.find()

  const passwordOf = async (isNew: boolean): Promise<string> =>
    (await knownPassword()) ?? askPassword(context.ask, { isNew })

  /** The random key. A new one is read back: what a keyring does not keep would cost every secret. */
  async function keyOf(isNew: boolean): Promise<string> {
    const ring = await keyring()
    const found = await ring.find()
    if (found) return found
    if (!isNew) throw failures.keyring_empty({ path })
    const key = randomBytes(32).toString('base64url')
    await ring.set(key)
    if ((await ring.find()) === key) return key
    throw failures.keyring_unavailable({ problem: 'it did not keep the key that was put in.' })
  }

  /** What a new file is opened with: a password that is at hand, else the keyring, else a person. */
  async function sourceOfNew(): Promise<KeyRecipe['from']> {
    if (context.keyFrom === 'keyring') return 'key'
    if (context.keyFrom === 'password' || (await knownPassword()) !== undefined) return 'password'
    try {
      await (await keyring()).find()
      return 'key'
    } catch (error) {
      if (isFailure(error, 'keyring_unavailable')) return 'password'
      throw error
    }
  }

  return {
    find: async name => (await file.read()).get(name),
    set: (name, value) => file.change(secrets => void secrets.set(name, value)),
    delete: name => file.change(secrets => secrets.delete(name)),
    list: async () => [...(await file.read()).keys()].map(key => ({ key })),
    async prepare() {
      if ((await file.source()) === undefined) await file.create(await sourceOfNew())
      await file.read()
    },
    async needsPerson() {
      if ((await knownPassword()) !== undefined) return undefined
      const from = await file.source()
      if ((from ?? (await sourceOfNew())) !== 'password') return undefined
      return from === undefined ? 'new' : 'existing'
    },
    async unlock() {
      if ((await file.source()) !== 'password' || (await lastingPassword()) !== undefined) return false
      if (!session) throw failures.secrets_session_missing()
      typed = await askPassword(context.ask, { isNew: false })
      await file.read() // fails with a wrong password, which is not kept
      await session.keep(typed)
      return true
    },
    lock: async () => (await session?.forget()) ?? false,
    forgetKey: async () => (await keyring()).delete(),
  }
}
