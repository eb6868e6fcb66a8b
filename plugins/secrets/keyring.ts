import { messageOf } from '../../src/errors.ts'
import { failures } from './failures.ts'

/** One item in the keyring of the operating system. */
export interface Keyring {
  find(): Promise<string | undefined>
  set(value: string): Promise<void>
  /** False when there was none. */
  delete(): Promise<boolean>
}

const WAIT_MS = 30_000 // long enough for a person to unlock it
const SERVICE = 'keelson'

/** What we use of the optional package @napi-rs/keyring. */
export interface KeyringModule {
  AsyncEntry: new (
    service: string,
    account: string,
    options?: { linux?: { store?: 'secret-service' } },
  ) => {
    getPassword(signal?: AbortSignal): Promise<string | null | undefined>
    setPassword(value: string, signal?: AbortSignal): Promise<void>
    deletePassword(signal?: AbortSignal): Promise<boolean>
  }
}

/** The name is a variable, so that bundlers do not look for a package that need not be there. */
const PACKAGE: string = '@napi-rs/keyring'
const loadPackage = async (): Promise<KeyringModule> => (await import(PACKAGE)) as KeyringModule

/**
 * Opens the keyring. Fails with `keyring_unavailable`.
 *
 * On Linux only a Secret Service counts: the package would fall back to the kernel's keyring, which
 * forgets at the next start of the machine, and the secrets with it.
 */
export async function openKeyring(
  options: { account?: string; load?: () => Promise<KeyringModule> } = {},
): Promise<Keyring> {
  const { account = 'secrets', load = loadPackage } = options
  const module = await load().catch(error => {
    throw failures.keyring_unavailable(
      { problem: 'the optional package @napi-rs/keyring is not installed beside keelson.' },
      { cause: error },
    )
  })
  const attempt = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    try {
      return await work(AbortSignal.timeout(WAIT_MS))
    } catch (error) {
      throw failures.keyring_unavailable({ problem: messageOf(error) }, { cause: error })
    }
  }
  const entry = await attempt(
    async () => new module.AsyncEntry(SERVICE, account, { linux: { store: 'secret-service' } }),
  )
  return {
    find: async () => (await attempt(signal => entry.getPassword(signal))) ?? undefined,
    set: value => attempt(signal => entry.setPassword(value, signal)),
    delete: () => attempt(signal => entry.deletePassword(signal)),
  }
}
