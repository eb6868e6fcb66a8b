/** What is stored. Names are those of OAuth 2.0 and OpenID Connect. */
export type EntryKind =
  | 'pending' // authorization requests whose person logs in elsewhere
  | 'code' // authorization codes
  | 'grant' // what a person granted to a client: refresh token, scopes, upstream login
  | 'client' // clients that registered themselves (RFC 7591)
  | 'consent' // what a person has agreed to before
  | 'upstream' // tokens of upstream providers
  | 'used' // identifiers that may be used once, e.g. `jti` of assertions

/**
 * Where an authorization server keeps its state. Every operation is atomic, also between replicas, and what it has
 * reported as done survives a kill where the storage does.
 *
 * Keys are hashes of tokens or identifiers; values are sealed (`sealed-store.ts`), so that a copy of the storage is
 * of no use. An entry is gone when its lifetime has passed. Operations fail with `auth_store_unavailable`.
 */
export interface Store {
  /** Adds an entry. Returns false, and changes nothing, if there is one with this key, or no room for its kind. */
  add(kind: EntryKind, key: string, value: string, lifetimeMs: number): Promise<boolean>
  get(kind: EntryKind, key: string): Promise<string | undefined>
  /** Replaces the value if it is still `expected`. Of two callers with the same expectation, one gets true. */
  replace(kind: EntryKind, key: string, expected: string, value: string, lifetimeMs: number): Promise<boolean>
  /** Removes an entry and returns its value. Of two callers, one gets it. */
  take(kind: EntryKind, key: string): Promise<string | undefined>
  /** Removes an entry if there is one. */
  delete(kind: EntryKind, key: string): Promise<void>
  /** How many entries of a kind there are, those that have just expired included. */
  count(kind: EntryKind): Promise<number>
  close(): Promise<void>
}

/** A store that takes keys and values as they are. `sealed-store.ts` is between it and everybody else. */
export interface RawStore extends Store {
  /** How bytes are written as a value: `latin1` where each character is stored as one byte. */
  readonly encoding: 'base64url' | 'latin1'
  /** As in `Store`; the entry has `newKey` from then on, unless another one has it: then false. */
  replace(
    kind: EntryKind,
    key: string,
    expected: string,
    value: string,
    lifetimeMs: number,
    newKey?: string,
  ): Promise<boolean>
}
