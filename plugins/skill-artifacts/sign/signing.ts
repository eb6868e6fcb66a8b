import { type KeyObject, sign } from 'node:crypto'
import { failures } from '../failures.ts'
import { readSigningKey } from './cosign-key.ts'

/** How a push is signed. Exactly one member must be given. */
export interface Signing {
  /** A file with a private key, encrypted as cosign does; the password is in COSIGN_PASSWORD. */
  readonly key?: string | undefined
  /** An OpenID Connect token that names the signer, or the path of a file with it. */
  readonly identityToken?: string | undefined
  readonly noSign?: boolean | undefined
}

/** Signs a payload. Returns the annotations that cosign writes to the layer of a signature. */
export type Signer = (payload: Buffer) => Promise<Record<string, string>>

type Env = Readonly<Record<string, string | undefined>>

/** Returns the signer of a push; undefined with `noSign`. Fails with `skill_signing_choice` unless one member is given. */
export async function loadSigner(signing: Signing, env: Env): Promise<Signer | undefined> {
  const { key, identityToken, noSign } = signing
  const given = [
    ...(key ? ['--key'] : []),
    ...(identityToken ? ['--identity-token'] : []),
    ...(noSign ? ['--no-sign'] : []),
  ]
  if (given.length !== 1) throw failures.skill_signing_choice({ given })
  if (key) return keySigner(await readSigningKey(key, env.COSIGN_PASSWORD ?? ''))
  if (identityToken) return (await import('./keyless.ts')).keylessSigner(identityToken, env)
  return undefined
}

const keySigner =
  (key: KeyObject): Signer =>
  async payload => ({
    [SIGNATURE]: sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', payload, key).toString('base64'),
  })

/** The annotation of the signature. Its prefix differs from that of cosign's other annotations. */
export const SIGNATURE = 'dev.cosignproject.cosign/signature'
