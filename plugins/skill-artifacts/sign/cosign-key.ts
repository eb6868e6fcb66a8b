import { createPrivateKey, type KeyObject, scrypt } from 'node:crypto'
import * as t from 'typanion'
import { readUserFile } from '../../../src/user-file.ts'
import { failures } from '../failures.ts'

const extra = { extra: t.isUnknown() }
const number = (most: number) => t.cascade(t.isNumber(), [t.isInteger(), t.isInInclusiveRange(1, most)])

/** The JSON in the PEM of an encrypted cosign key. */
const isEncrypted = t.isObject(
  {
    kdf: t.isObject(
      {
        name: t.isLiteral('scrypt'),
        // Larger numbers would use up the memory or take too long.
        params: t.isObject({ N: number(2 ** 17), r: number(16), p: number(4) }, extra),
        salt: t.isString(),
      },
      extra,
    ),
    cipher: t.isObject({ name: t.isLiteral('nacl/secretbox'), nonce: t.isString() }, extra),
    ciphertext: t.isString(),
  },
  extra,
)

/**
 * Reads a private key: one of cosign, encrypted with the password, or plain PKCS #8 (RFC 5958). Fails with
 * `skill_key_invalid`, which never contains anything of the file.
 */
export async function readSigningKey(path: string, password: string): Promise<KeyObject> {
  const text = await readUserFile(path, 'The --key')
  const found = /-----BEGIN ([A-Z0-9 ]{1,60})-----([A-Za-z0-9+/=\s]{1,100000})-----END \1-----/.exec(text)
  const [, label = '', body = ''] = found ?? []
  const refuse = (problem: string, cause?: unknown) =>
    failures.skill_key_invalid({ path, problem }, { cause })
  if (!found) throw refuse('it is not a PEM file.')
  if (/PUBLIC KEY|CERTIFICATE/.test(label)) throw refuse('it is public; signing needs the private key.')
  const der = /^ENCRYPTED (?:COSIGN|SIGSTORE) PRIVATE KEY$/.test(label)
    ? await decrypt(Buffer.from(body, 'base64'), password, refuse)
    : undefined
  let key: KeyObject
  try {
    key = der ? createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) : createPrivateKey(text)
  } catch {
    // Without a cause, which could quote the key.
    throw refuse('it is not a private key that keelson can read.')
  }
  if (!/^(?:ec|ed25519|rsa)$/.test(key.asymmetricKeyType ?? '')) {
    throw refuse(`keys of the kind ${key.asymmetricKeyType} cannot sign.`)
  }
  return key
}

async function decrypt(json: Buffer, password: string, refuse: (problem: string) => Error): Promise<Buffer> {
  let document: unknown
  try {
    document = JSON.parse(json.toString('utf8'))
  } catch {
    throw refuse('its content is not what cosign writes.')
  }
  if (!isEncrypted(document)) throw refuse('it is encrypted in a way that is not known here.')
  const { kdf, cipher, ciphertext } = document
  const { N, r, p } = kdf.params
  const key = await new Promise<Buffer | undefined>(resolve => {
    const options = { N, r, p, maxmem: 256 * N * r + 1024 * 1024 }
    try {
      scrypt(password, Buffer.from(kdf.salt, 'base64'), 32, options, (error, derived) =>
        resolve(error ? undefined : derived),
      )
    } catch {
      resolve(undefined) // scrypt does not allow this combination of N, r and p
    }
  })
  if (!key) throw refuse('it is encrypted in a way that is not known here.')
  const { xsalsa20poly1305 } = await import('@noble/ciphers/salsa.js')
  try {
    const box = xsalsa20poly1305(key, Buffer.from(cipher.nonce, 'base64'))
    return Buffer.from(box.decrypt(Buffer.from(ciphertext, 'base64')))
  } catch {
    throw refuse(password ? 'the password in COSIGN_PASSWORD is wrong.' : 'COSIGN_PASSWORD is not set.')
  }
}
