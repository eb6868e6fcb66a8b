import type { KeyringModule } from '../../../plugins/secrets/keyring.ts'

/** A keyring in memory with the face of @napi-rs/keyring. `problem` makes every call fail with it. */
export function fakeKeyring(options: { problem?: string; forgetful?: boolean } = {}): KeyringModule & {
  readonly items: Map<string, string>
  readonly stores: unknown[]
} {
  const items = new Map<string, string>()
  const stores: unknown[] = []
  const answer = async <T>(work: () => T): Promise<T> => {
    if (options.problem) throw new Error(options.problem)
    return work()
  }
  return {
    items,
    stores,
    AsyncEntry: class {
      readonly #item: string
      constructor(service: string, account: string, more?: unknown) {
        this.#item = `${service}/${account}`
        stores.push(more)
      }
      getPassword = () => answer(() => items.get(this.#item) ?? null)
      setPassword = (value: string) =>
        answer(() => void (options.forgetful ? undefined : items.set(this.#item, value)))
      deletePassword = () => answer(() => items.delete(this.#item))
    },
  }
}
