import { type KeyObject, sign } from 'node:crypto'
import { failures } from '../failures.ts'
import { readSigningKey } from './cosign-key.ts'

/** How a push is signed: in exactly one of these ways. */
export interface Signing {
  /** A file with a private key, encrypted as cosign does; the password is in COSIGN_PASSWORD. */
  readonly key?: string | undefined
  /** A token that says who signs, or a file with it. */
  readonly identityToken?: string | undefined
  readonly noSign?: boolean | undefined
}

/** Signs a payload; answers what cosign writes beside a signature, as annotations of its layer. */
export type Signer = (payload: Buffer) => Promise<Record<string, string>>

type Env = Readonly<Record<string, string | undefined>>

/** Makes what signs; undefined: nothing is signed. Fails with `skill_signing_choice` unless one way is chosen. */
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

/** This one has a different prefix than cosign's other annotations. */
export const SIGNATURE = 'dev.cosignproject.cosign/signature'
