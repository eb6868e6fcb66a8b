import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import type { EntryKind, RawStore, Store } from './store.ts'

/**
 * Hides keys and values from whoever has a copy of the storage. Keys become HMACs; values are encrypted and bound to
 * their kind and key, so that none can be put in another's place.
 *
 * The first secret seals; what the others have sealed is still found, and moves to the first when it is replaced.
 * A value that does not open counts as absent.
 */
export function sealStore(raw: RawStore, secrets: readonly string[]): Store {
  const seals = secrets.map(secret => createSeal(secret, raw.encoding))
  const [current] = seals
  if (!current) throw new Error('a store needs a secret')
  const older = seals.slice(1)
  /** The older ones first: an entry that moves meanwhile is then found at its new place. */
  const inOrder = [...older, current]

  return {
    ...raw,
    async add(kind, key, value, lifetimeMs) {
      const at = current.key(kind, key)
      if (!(await raw.add(kind, at, current.seal(kind, key, value), lifetimeMs))) return false
      for (const seal of older) {
        if ((await raw.get(kind, seal.key(kind, key))) === undefined) continue
        await raw.delete(kind, at)
        return false
      }
      return true
    },
    async get(kind, key) {
      for (const seal of inOrder) {
        const sealed = await raw.get(kind, seal.key(kind, key))
        if (sealed !== undefined) return seal.open(kind, key, sealed)
      }
      return undefined
    },
    async replace(kind, key, expected, value, lifetimeMs) {
      const [to, sealed] = [current.key(kind, key), current.seal(kind, key, value)]
      for (const seal of inOrder) {
        const [from, before] = [seal.key(kind, key), seal.seal(kind, key, expected)]
        if (await raw.replace(kind, from, before, sealed, lifetimeMs, to)) return true
      }
      return false
    },
    async take(kind, key) {
      for (const seal of inOrder) {
        const sealed = await raw.take(kind, seal.key(kind, key))
        if (sealed !== undefined) return seal.open(kind, key, sealed)
      }
      return undefined
    },
    async delete(kind, key) {
      for (const seal of inOrder) await raw.delete(kind, seal.key(kind, key))
    },
  }
}

/** 128 bits: nobody finds two keys with one HMAC, and storages hold each key twice. */
const KEY_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * AES-256-GCM with a nonce that is made from kind, key and value (as in RFC 8452, section 4): what is the same has
 * the same sealed form, so that storages can compare sealed values, and no nonce serves two values.
 */
function createSeal(secret: string, encoding: RawStore['encoding']) {
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', secret, 'keelson auth-server storage', purpose, 32))
  const [cipherKey, nonceKey, indexKey] = [derive('values'), derive('nonces'), derive('keys')]
  /** Kinds are our own words without such a character. */
  const bound = (kind: EntryKind, key: string) => `${kind}\0${key}`
  return {
    key: (kind: EntryKind, key: string): string =>
      createHmac('sha256', indexKey)
        .update(bound(kind, key))
        .digest()
        .subarray(0, KEY_BYTES)
        .toString('base64url'),
    seal(kind: EntryKind, key: string, value: string): string {
      const context = bound(kind, key)
      const nonce = createHmac('sha256', nonceKey)
        .update(`${context.length}\0${context}\0${value}`)
        .digest()
        .subarray(0, NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', cipherKey, nonce).setAAD(Buffer.from(context))
      const parts = [nonce, cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return Buffer.concat(parts).toString(encoding)
    },
    open(kind: EntryKind, key: string, sealed: string): string | undefined {
      const bytes = Buffer.from(sealed, encoding)
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
      const decipher = createDecipheriv('aes-256-gcm', cipherKey, bytes.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(bound(kind, key)))
        .setAuthTag(bytes.subarray(-TAG_BYTES))
      try {
        const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}
