import { createCipheriv, createDecipheriv, hkdf, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'

/**
 * The file of the encrypted provider, version 1:
 *
 * | bytes | what |
 * |---|---|
 * | 0–7 | `KEELSECR` |
 * | 8 | version, 1 |
 * | 9 | where the key comes from: 0 a random key (HKDF-SHA-256, RFC 5869), 1 a password (scrypt, RFC 7914) |
 * | 10, 11, 12 | scrypt: log2 of N, r, p; zero for a random key |
 * | 13–15 | zero |
 * | 16–31 | salt |
 * | 32–43 | nonce, new for every write |
 * | 44–… | AES-256-GCM of the content, then its tag of 16 bytes; bytes 0–43 are associated data |
 */
const MAGIC = Buffer.from('KEELSECR')
const VERSION = 1
const HEADER = 44
const TAG = 16

export interface KdfCost {
  readonly log2N: number
  readonly r: number
  readonly p: number
}

/** 128 MiB and a good third of a second. */
const COST: KdfCost = { log2N: 17, r: 8, p: 1 }

/** What the key is made with; stays the same from write to write, so that a derived key can be kept. */
export interface KeyRecipe {
  readonly from: 'key' | 'password'
  readonly cost: KdfCost
  readonly salt: Buffer
}

export const newRecipe = (from: KeyRecipe['from'], cost: KdfCost = COST): KeyRecipe => ({
  from,
  cost: from === 'key' ? { log2N: 0, r: 0, p: 0 } : cost,
  salt: randomBytes(16),
})

/** Whether two recipes make the same key from the same secret. */
export const isSameRecipe = (a: KeyRecipe, b: KeyRecipe): boolean => prefix(a).equals(prefix(b))

/** Everything in front of the nonce. */
function prefix({ from, cost, salt }: KeyRecipe): Buffer {
  const head = Buffer.alloc(16)
  MAGIC.copy(head)
  head.set([VERSION, from === 'key' ? 0 : 1, cost.log2N, cost.r, cost.p], 8)
  return Buffer.concat([head, salt])
}

/** Why bytes are not a file of this format. */
export class ForeignFile extends Error {}

/** Reads the recipe without opening anything. Throws ForeignFile. */
export function readRecipe(bytes: Buffer): KeyRecipe {
  if (bytes.length === 0) throw new ForeignFile('it is empty')
  if (bytes.length < MAGIC.length || !bytes.subarray(0, MAGIC.length).equals(MAGIC))
    throw new ForeignFile('it is another kind of file')
  if (bytes.length < HEADER + TAG) throw new ForeignFile('it is cut off')
  const [version = 0, source = 0, log2N = 0, r = 0, p = 0] = bytes.subarray(8, 13)
  if (version !== VERSION)
    throw new ForeignFile(`it has version ${version}, which this keelson does not know`)
  const cost = { log2N, r, p }
  if (source > 1 || (source === 1 && !isBearable(cost))) throw new ForeignFile('its header is damaged')
  return { from: source === 0 ? 'key' : 'password', cost, salt: bytes.subarray(16, 32) }
}

/** Limits the cost, since a few changed bytes could otherwise demand gigabytes of memory. */
const isBearable = ({ log2N, r, p }: KdfCost): boolean =>
  log2N >= 10 && log2N <= 20 && r >= 1 && r <= 16 && p >= 1 && p <= 4 && memoryOf(log2N, r) <= 2 ** 30

const memoryOf = (log2N: number, r: number): number => 128 * 2 ** log2N * r

/** The key of a file. Slow on purpose for a password. */
export async function deriveKey(secret: string, { from, cost, salt }: KeyRecipe): Promise<Buffer> {
  if (from === 'key')
    return Buffer.from(
      await promisify(hkdf)('sha256', Buffer.from(secret, 'base64url'), salt, 'keelson secrets', 32),
    )
  const { log2N, r, p } = cost
  return promisify<string, Buffer, number, object, Buffer>(scrypt)(secret.normalize('NFC'), salt, 32, {
    N: 2 ** log2N,
    r,
    p,
    maxmem: memoryOf(log2N, r) + 128 * r * p + 2 ** 20,
  })
}

/** The file that holds the content. */
export function seal(content: Buffer, recipe: KeyRecipe, key: Buffer): Buffer {
  const nonce = randomBytes(12)
  const header = Buffer.concat([prefix(recipe), nonce])
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(header)
  return Buffer.concat([header, cipher.update(content), cipher.final(), cipher.getAuthTag()])
}

/** The content, or undefined when the key is another one or a single bit of the file has changed. */
export function unseal(bytes: Buffer, key: Buffer): Buffer | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(32, HEADER), { authTagLength: TAG })
  decipher.setAAD(bytes.subarray(0, HEADER))
  decipher.setAuthTag(bytes.subarray(-TAG))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(HEADER, -TAG)), decipher.final()])
  } catch {
    return undefined
  }
}
