import { createHmac, hkdfSync } from 'node:crypto'
import { isSame } from '../protocol/secrets.ts'

/** Secrets that tokens of ours are made with. The first makes new ones; what the others made is still accepted. */
export interface HmacSecrets {
  /** Returns the HMAC-SHA256 of the texts. */
  sign(...texts: readonly string[]): string
  isSigned(signature: string, ...texts: readonly string[]): boolean
  /** What stored values are sealed with, the current one first. */
  readonly sealing: readonly string[]
  /** What cookies are sealed with, the current one first. */
  readonly cookieKeys: readonly Buffer[]
}

export const LEAST_SECRET_BYTES = 32

export function createHmacSecrets(secrets: readonly [Buffer, ...Buffer[]]): HmacSecrets {
  const keys = secrets.map(secret => derive(secret, 'keelson auth server: tokens'))
  const [current = Buffer.alloc(0)] = keys
  const macOf = (key: Buffer, texts: readonly string[]) =>
    createHmac('sha256', key).update(JSON.stringify(texts)).digest('base64url')
  return {
    sign: (...texts) => macOf(current, texts),
    isSigned: (signature, ...texts) => keys.some(key => isSame(macOf(key, texts), signature)),
    cookieKeys: secrets.map(secret => derive(secret, 'keelson auth server: cookies')),
    sealing: secrets.map(secret => derive(secret, 'keelson auth server: storage').toString('base64')),
  }
}

/** Separate keys for separate uses (RFC 5869). */
const derive = (secret: Buffer, use: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', use, 32))
