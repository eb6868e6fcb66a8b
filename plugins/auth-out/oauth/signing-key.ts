import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { importJWK } from 'jose'
import type { CryptoKey } from 'openid-client'
import { parseObject } from '../../../src/lib/parse-object.ts'
import { clean } from '../../../src/lib/printable.ts'
import { failures } from '../failures.ts'

const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
}

/**
 * Reads a private key for client assertions (RFC 7523): PEM, or a JSON Web Key. The algorithm is `algorithm`, else
 * what the key says or its type suggests. Fails with `remote_key_invalid`; the key's text is in no message.
 */
export async function readSigningKey(
  text: string,
  algorithm: string | undefined,
): Promise<{ key: CryptoKey; kid?: string }> {
  const jwk = parseObject(text)
  const key = toKey(text, jwk)
  const said = typeof jwk?.alg === 'string' ? jwk.alg : undefined
  const alg = algorithm ?? said ?? algorithmOf(key)
  try {
    const imported = await importJWK(key.export({ format: 'jwk' }), alg)
    return { key: imported as CryptoKey, ...(typeof jwk?.kid === 'string' ? { kid: jwk.kid } : {}) }
  } catch {
    throw failures.remote_key_invalid({ problem: `it is not a key for ${clean(alg).slice(0, 20)}` })
  }
}

function toKey(text: string, jwk: Record<string, unknown> | undefined): KeyObject {
  try {
    return createPrivateKey(jwk ? { key: jwk as JsonWebKey, format: 'jwk' } : text)
  } catch {
    throw failures.remote_key_invalid({ problem: 'it cannot be read' })
  }
}

function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string {
  if (type === 'rsa') return 'RS256'
  if (type === 'ed25519') return 'EdDSA'
  const curve = type === 'ec' ? CURVES[details?.namedCurve ?? ''] : undefined
  if (curve) return curve
  throw failures.remote_key_invalid({ problem: `keys of the type ${type} are not supported` })
}
