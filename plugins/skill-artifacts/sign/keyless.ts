import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import * as t from 'typanion'
import { FetchProblem } from '../../../src/net/fetch-problem.ts'
import { guardedFetch } from '../../../src/net/guarded-fetch.ts'
import { failures } from '../failures.ts'
import { SIGNATURE, type Signer } from './signing.ts'

type Env = Readonly<Record<string, string | undefined>>

const FULCIO = 'https://fulcio.sigstore.dev'
const REKOR = 'https://rekor.sigstore.dev'

const extra = { extra: t.isUnknown() }
const chain = t.isOptional(
  t.isObject({ chain: t.isObject({ certificates: t.isArray(t.isString()) }, extra) }, extra),
)
const isCertified = t.isObject(
  { signedCertificateEmbeddedSct: chain, signedCertificateDetachedSct: chain },
  extra,
)
const isLogged = t.isRecord(
  t.isObject(
    {
      body: t.isString(),
      integratedTime: t.isNumber(),
      logID: t.isString(),
      logIndex: t.isNumber(),
      verification: t.isObject({ signedEntryTimestamp: t.isString() }, extra),
    },
    extra,
  ),
)

/**
 * Signs as the person or workflow that an identity token names: it makes a key for one signature, gets a
 * certificate for the key from Fulcio and adds an entry to the public log Rekor. The name in the token
 * becomes public. Signing fails with `skill_sigstore_failed` or `skill_token_invalid`.
 */
export function keylessSigner(token: string, env: Env): Signer {
  const challenge = subjectOf(token)
  const ask = async (service: string, fallback: string, variable: string, path: string, body: unknown) => {
    const base = env[variable] || fallback
    try {
      const answer = await guardedFetch(new URL(path, base).href, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(body),
        // A user who sets the variable has their own Sigstore, which may be at a private address.
        allowPrivate: env[variable] !== undefined,
        maxBytes: 1024 * 1024,
      })
      if (answer.status === 201 || answer.status === 200) return JSON.parse(answer.body.toString('utf8'))
      throw failures.skill_sigstore_failed({ service, problem: `it responds with status ${answer.status}.` })
    } catch (error) {
      if (!(error instanceof FetchProblem || error instanceof SyntaxError)) throw error
      const problem = error instanceof FetchProblem ? `${error.message}.` : 'its response is not JSON.'
      throw failures.skill_sigstore_failed({ service, problem })
    }
  }
  const broken = (service: string) =>
    failures.skill_sigstore_failed({ service, problem: 'its response lacks what was requested.' })

  return async payload => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString()
    const certified: unknown = await ask(
      'Fulcio',
      FULCIO,
      'KEELSON_SIGSTORE_FULCIO_URL',
      '/api/v2/signingCert',
      {
        credentials: { oidcIdentityToken: token },
        publicKeyRequest: {
          publicKey: { algorithm: 'ECDSA', content: pem },
          proofOfPossession: sign('sha256', Buffer.from(challenge), privateKey).toString('base64'),
        },
      },
    )
    if (!isCertified(certified)) throw broken('Fulcio')
    const { signedCertificateEmbeddedSct: embedded, signedCertificateDetachedSct: detached } = certified
    const [certificate, ...issuers] = (embedded ?? detached)?.chain.certificates ?? []
    if (!certificate) throw broken('Fulcio')

    const signature = sign('sha256', payload, privateKey).toString('base64')
    const logged: unknown = await ask('Rekor', REKOR, 'KEELSON_SIGSTORE_REKOR_URL', '/api/v1/log/entries', {
      apiVersion: '0.0.1',
      kind: 'hashedrekord',
      spec: {
        data: { hash: { algorithm: 'sha256', value: createHash('sha256').update(payload).digest('hex') } },
        signature: {
          content: signature,
          publicKey: { content: Buffer.from(certificate).toString('base64') },
        },
      },
    })
    if (!isLogged(logged)) throw broken('Rekor')
    const [entry] = Object.values(logged)
    if (!entry) throw broken('Rekor')
    const { body, integratedTime, logIndex, logID, verification } = entry
    return {
      [SIGNATURE]: signature,
      'dev.sigstore.cosign/certificate': certificate,
      'dev.sigstore.cosign/chain': issuers.join('\n'),
      'dev.sigstore.cosign/bundle': JSON.stringify({
        SignedEntryTimestamp: verification.signedEntryTimestamp,
        Payload: { body, integratedTime, logIndex, logID },
      }),
    }
  }
}

/**
 * Returns the person or workflow that the token names. Fulcio wants the name signed, as proof that we have
 * the key. Fulcio checks the token; this function does not.
 */
function subjectOf(token: string): string {
  const [, claims = '', ...rest] = token.split('.')
  try {
    const { email, email_verified, sub } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as {
      email?: unknown
      email_verified?: unknown
      sub?: unknown
    }
    const subject = email && String(email_verified) !== 'false' ? email : sub
    if (rest.length === 1 && typeof subject === 'string' && subject) return subject
  } catch {
    // Without a cause, which could quote the token.
  }
  throw failures.skill_token_invalid({ problem: 'it is not an identity token (a JWT with a subject)' })
}
