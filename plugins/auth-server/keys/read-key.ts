import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, type JWK } from 'jose'
import { failures } from '../failures.ts'
import type { SigningKeys } from './signing-keys.ts'

const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
}
const LEAST_RSA_BITS = 2048

/**
 * Makes the keys of the server from texts in PEM or JWK. The first signs; the others, private or public, are published
 * so that tokens they signed stay valid. Fails with `auth_server_config_invalid`.
 */
export async function toSigningKeys(
  signing: { readonly path: string; readonly text: string },
  others: readonly { readonly path: string; readonly text: string }[],
): Promise<SigningKeys> {
  const privateKey = parseKey(signing)
  if (privateKey.type !== 'private') throw unusable(signing.path, 'it is not a private key')
  const first = await publish(privateKey, signing.path)
  const rest = await Promise.all(others.map(file => publish(parseKey(file), file.path)))
  const keys = [first, ...rest].filter(
    (key, index, all) => all.findIndex(({ kid }) => kid === key.kid) === index,
  )
  return {
    ...{ algorithm: first.alg, keyId: first.kid, privateKey, published: { keys } },
    algorithms: [...new Set(keys.map(({ alg }) => alg))],
  }
}

async function publish(key: KeyObject, path: string): Promise<JWK & { kid: string; alg: string }> {
  const alg = algorithmOf(key, path)
  const jwk = await exportJWK(key.type === 'private' ? createPublicKey(key) : key)
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg, use: 'sig' }
}

function parseKey({ path, text }: { path: string; text: string }): KeyObject {
  try {
    if (!text.trimStart().startsWith('{')) {
      return text.includes('PRIVATE KEY') ? createPrivateKey(text) : createPublicKey(text)
    }
    const key: JWK = JSON.parse(text)
    const input = { key, format: 'jwk' } as const
    return 'd' in key ? createPrivateKey(input) : createPublicKey(input)
  } catch {
    // The reason of the platform may quote the key.
    throw unusable(path, 'it is neither a PEM key without a password nor a JWK')
  }
}

function algorithmOf(
  { asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject,
  path: string,
): string {
  const curve = type === 'ec' ? CURVES[details.namedCurve ?? ''] : undefined
  if (curve) return curve
  if (type === 'ed25519') return 'EdDSA'
  if (type === 'rsa' && (details.modulusLength ?? 0) >= LEAST_RSA_BITS) return 'RS256'
  throw unusable(
    path,
    `tokens are signed with P-256, P-384, P-521, Ed25519, or RSA of ${LEAST_RSA_BITS} bits and more`,
  )
}

const unusable = (path: string, problem: string) =>
  failures.auth_server_config_invalid({ problem: `the key ${path} cannot be used: ${problem}` })
